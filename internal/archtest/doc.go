// Package archtest keeps the plan of the house true: who may import whom, and why.
//
// The table in rules.go is the floor table of the design, one [Room] per line; workshops.go has those
// of plugin authors. Test files may import what they like, except a command. When a rule breaks, the test prints the offending
// file, the import and the reason. Where the plan turns out to be wrong, change the plan, this
// table and the README's picture of it together; do not work around it.
//
// What packages export that may be imported from outside is counted, and testdata/surface.txt
// has the most that each may (surface.go): what is public has to stay.
//
// The source of the recovery package is read too: it must never ask for the time, because
// whatever a decision depended on has to be in an event.
package archtest
