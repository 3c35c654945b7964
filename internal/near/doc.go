// Package near guesses what a mistyped word was meant to be: a field of a file, a name in a condition.
//
// A word is like another one if few letters have to be added, removed, replaced or swapped with a
// neighbour ([Distance]), at most one in three. [Word] is the nearest of those that there are, so
// that an error can ask "did you mean …?"; where none is like it, nothing is guessed, since a wrong
// guess is worse than none. Who looks for names that are mistaken for another on purpose asks for
// the distance itself.
package near
