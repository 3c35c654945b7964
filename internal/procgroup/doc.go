// Package procgroup starts programs that can be ended with all that they start: each
// leads a process group of its own, gets none of our files and, on Linux, does not
// outlive us. The plugin host and the tools that are commands stand on it.
package procgroup
