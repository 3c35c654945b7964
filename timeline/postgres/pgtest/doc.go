// Package pgtest gives tests databases of PostgreSQL: of the server that MULLIGAN_POSTGRES names
// (a URL of somebody who may make databases), else of one of their own, started by the programs of
// this machine and gone with the tests.
//
//	log, err := postgres.Open(ctx, pgtest.Database(t))
//
// Where there is neither, a test is skipped, aloud, and fails with CI=true.
package pgtest
