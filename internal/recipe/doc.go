// Package recipe is what is known of the programs that people use: how each is started so that
// it asks a proxy instead of its provider. Nobody's files are read or written: everything is said
// by the environment and the command line of the one process that is started.
//
//	start, err := recipe.For([]string{"codex", "exec", "hello"}, os.Environ(), recipe.Door{URL: url, Token: token})
//	cmd := exec.Command(start.Program[0], start.Program[1:]...)
//	cmd.Env = start.Env
//
// The whole of it is the table in table.go: one row for each program that needs more than the
// variables that nearly everything reads. A token is never on a command line, where anybody on
// the machine could read it.
package recipe
