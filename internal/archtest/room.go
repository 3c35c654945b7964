package archtest

// Room is one line of the floor table. Patterns are import paths relative to the module
// ("recovery"), paths outside it ("net/http"), or either with "/..." for the path and all below.
// "std" stands for the whole standard library and "modules" for every module but ours.
type Room struct {
	// From says which packages the line is about. The first line that fits a package governs it.
	From string
	// May lists everything the room may import. A package may always import those below itself.
	May []string
	// Never takes out of May again, and is how "std" or "modules" is narrowed.
	Never []string
	// Why is printed when the line is broken.
	Why string
}
