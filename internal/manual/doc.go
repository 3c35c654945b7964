// Package manual is the command line as pages: in the form of man, one for each verb, and in
// Markdown, for the documentation. Both are made of the commands themselves, so that neither says
// anything that --help does not.
package manual
