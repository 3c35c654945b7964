// Package pgtest gives tests PostgreSQL databases: on the server that MULLIGAN_POSTGRES names (a
// URL with a role that may create databases), otherwise on a server of their own, started by the
// programs of this machine and gone when the tests are.
//
//	log, err := postgres.Open(ctx, pgtest.Database(t))
//
// If there is neither, a test is skipped, loudly; with CI=true it fails.
package pgtest
