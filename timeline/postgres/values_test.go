package postgres

import (
	"testing"

	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
	"github.com/mulligan-run/mulligan/values/valuestest"
)

// TestValues: what a plugin keeps is the same on two machines.
func TestValues(t *testing.T) {
	url := pgtest.Database(t)
	valuestest.Store(t, open(t, url), open(t, url))
}
