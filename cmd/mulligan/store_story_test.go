package main

import (
	"maps"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// TestStoreStories plays testdata/store/*.txtar, which have an empty database of PostgreSQL in
// $STORE, and the commands of TestStories.
func TestStoreStories(t *testing.T) {
	database := pgtest.Durable(t)
	commands := storyCommands()
	maps.Copy(commands, map[string]func(*testscript.TestScript, bool, []string){"lab": startLab, "script": setScript})
	testscript.Run(t, testscript.Params{
		Dir: "testdata/store", RequireExplicitExec: true, Cmds: commands,
		Setup: func(env *testscript.Env) error {
			env.Setenv("STORE", database)
			return setup(env)
		},
	})
}
