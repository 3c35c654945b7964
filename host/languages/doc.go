// Package languages contains one test: it runs misbehaving plugins in Python, TypeScript,
// Java and Rust, each made with its language's own SDK, under the host. Package host tests Go
// plugins with every row of the catalogue of plugin faults; this one tests the rows that
// depend on a language's runtime.
package languages
