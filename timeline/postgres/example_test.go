package postgres_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline/postgres"
)

// Several machines share their runs in a database: each goes on with those whose owner died.
func Example() {
	ctx := context.Background()
	store, err := postgres.Open(ctx, os.Getenv("MULLIGAN_STORE")) // postgres://user@host/database
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	r := runner.New(runner.WithLog(store)) // and models, hooks and tools, as with any other log
	fmt.Println(r.Policy().MaxRetries)
}
