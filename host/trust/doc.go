// Package trust is what a person has let plugins do: which files may run, and what they may
// have of the environment and of what is said in runs.
//
//	manifest.go   mulligan-plugin.yaml, in which a plugin asks
//	lock.go       mulligan.lock, in which a person grants, and pins the files that may run
//	folder.go     a plugin's folder as it is now
//	contents.go   what in a folder is not what was pinned
//
// A manifest is the plugin's word and gives it nothing. The lock lies beside mulligan.yaml, in
// version control; what it says holds for the configured command, and for no other.
package trust
