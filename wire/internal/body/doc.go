// Package body reads the body of a request that a stranger wrote, for the wires.
//
// [Check] looks at all of it once, [Read] hands each member to who knows it by its name, and
// [List] each element. Names are exact, what no one knows is told, too, and an error names the
// field.
package body
