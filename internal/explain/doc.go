// Package explain tells a person what a failure is, and why: package failure's diagnosis, what
// a policy would do about it, and what the catalogue of faults knows, on a page of text or as JSON.
//
//	report.go           what somebody has of a failure: a message, a status, headers, a body
//	told.go             the same as flags, arguments and stdin tell it
//	paste.go            the same out of what was pasted, a whole HTTP response for one
//	note.go             the diagnosis on a page, with what it goes by and how sure it is
//	advice.go           what is done about it, with another model to switch to and without
//	table.go            a table of reports, diagnosed row by row
//	catalogue_rows.go   faults of the catalogue as a list; catalogue_row.go, one of them in full
package explain
