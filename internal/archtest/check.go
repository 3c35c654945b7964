package archtest

import (
	"slices"
	"strings"
)

// Package is what the rules look at: one package of the module.
type Package struct {
	// Path is relative to the module.
	Path string
	// Files are the names of its Go files, for whatever platform, test files included.
	Files   []string
	Imports []Import
}

// Import is one import declaration.
type Import struct {
	// From is the importing package, relative to the module, as is To if it is ours.
	From, To string
	// File is relative to the module.
	File string
	// Ours says that To is a package of the module, Test that File is a test file.
	Ours, Test bool
}

// String reads like "recovery/run.go imports sync".
func (imp Import) String() string {
	return imp.File + " imports " + imp.To
}

// Violation is a broken rule.
type Violation struct {
	// What happened, and where.
	What string
	// Why the rule is there.
	Why string
}

func (v Violation) String() string {
	return v.What + "\n\twhy not: " + v.Why
}

// Check holds every package against [Rooms] and [Doors], and demands its doc.go.
func Check(pkgs []Package) []Violation {
	var found []Violation
	for _, pkg := range pkgs {
		found = append(found, checkDoors(pkg)...)
		if slices.ContainsFunc(pkg.Files, isCode) {
			found = append(found, checkRoom(pkg)...)
			found = append(found, checkDoc(pkg)...)
		}
	}
	return found
}

func checkDoors(pkg Package) []Violation {
	var found []Violation
	for _, imp := range pkg.Imports {
		for _, door := range Doors {
			if door.broken(imp) {
				found = append(found, Violation{imp.String(), door.Why})
			}
		}
	}
	return found
}

func checkRoom(pkg Package) []Violation {
	i := slices.IndexFunc(Rooms, func(r Room) bool { return matches(r.From, pkg.Path) })
	if i < 0 {
		return []Violation{{
			What: "package " + pkg.Path + " has no room",
			Why:  "every package stands on a floor: give it a line in internal/archtest/rules.go and in the plan",
		}}
	}
	var found []Violation
	for _, imp := range pkg.Imports {
		if !imp.Test && !Rooms[i].allows(imp) {
			found = append(found, Violation{imp.String(), Rooms[i].Why})
		}
	}
	return found
}

// undocumented are the packages that need no doc.go of their own.
var undocumented = []string{
	"proto/...",            // generated; its documentation is in the .proto files
	"plugins/examples/...", // a whole plugin in one short file, its comment at the top
	"examples/...",         // a whole program in one file, likewise
}

func checkDoc(pkg Package) []Violation {
	exempt := func(pattern string) bool { return matches(pattern, pkg.Path) }
	if slices.ContainsFunc(undocumented, exempt) || slices.Contains(pkg.Files, "doc.go") {
		return nil
	}
	return []Violation{{
		What: "package " + pkg.Path + " has no doc.go",
		Why:  "a room's doc.go is its tour: what it is, why, and how its parts go together",
	}}
}

func isCode(file string) bool {
	return !strings.HasSuffix(file, "_test.go")
}

func (r Room) allows(imp Import) bool {
	if imp.Ours && strings.HasPrefix(imp.To, imp.From+"/") {
		return true
	}
	return slices.ContainsFunc(r.May, imp.fits) && !slices.ContainsFunc(r.Never, imp.fits)
}

func (imp Import) fits(pattern string) bool {
	switch pattern {
	case "std":
		return imp.standard()
	case "modules":
		return !imp.Ours && !imp.standard()
	case "ours":
		return imp.Ours
	default:
		return matches(pattern, imp.To)
	}
}

// standard uses the go command's own rule: only paths outside the standard library begin with a
// name that has a dot.
func (imp Import) standard() bool {
	first, _, _ := strings.Cut(imp.To, "/")
	return !imp.Ours && !strings.Contains(first, ".")
}

func (d Door) broken(imp Import) bool {
	covers := func(pkg string) func(string) bool {
		return func(pattern string) bool { return matches(pattern, pkg) }
	}
	if !matches(d.To, imp.To) || slices.ContainsFunc(d.Except, covers(imp.To)) || imp.Test && !d.Tests {
		return false
	}
	if slices.ContainsFunc(d.For, covers(imp.From)) {
		return d.OnlyFile != "" && imp.File != d.OnlyFile
	}
	return !strings.HasPrefix(imp.To, imp.From+"/")
}

func matches(pattern, pkg string) bool {
	root, below := strings.CutSuffix(pattern, "/...")
	return pkg == root || below && strings.HasPrefix(pkg, root+"/")
}
