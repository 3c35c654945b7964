// Package schema holds JSON to a JSON Schema that somebody else wrote.
//
//	compiled, err := schema.Compile(ctx, document)
//	err = compiled.Validate(ctx, value)
//
// A schema of a few lines can ask for more steps than there is time: an allOf that
// refers twice to the next of forty definitions is 2^40 of them, and a validator that
// has begun cannot be stopped. So nothing begins that would not end soon. The document
// and the value are measured as they are read (read.go), a regular expression by the
// program that it becomes (pattern.go), and the steps of a validation are counted before
// it is made (cost.go): a sub-schema and a value that meet a million times are counted
// once. What is too large is refused with an error that says which bound it broke.
//
// Within the bounds a schema compiles and a value is checked in well under a second, and
// both give up between their phases when their context ends. Nothing is ever fetched: a
// $ref stays inside its document, or names one of the drafts' own schemas.
package schema
