// Package postgres keeps a timeline in a database of PostgreSQL, for any number of processes of
// any number of machines.
//
//	log, err := postgres.Open(ctx, "postgres://mulligan@db.internal/mulligan?sslmode=verify-full")
//	…
//	defer log.Close()
//
// Its tables are in the schema mulligan, which Open makes in a database that has none.
//
// # Writing
//
// What may not be done is refused by the WHERE of the statement that would do it, so that no lock
// is held while anybody waits for an answer. An append changes the row of its run where (epoch,
// owner) is the newest and the last seq is the one before, and adds events only if it did. Three
// goroutines make the writes: one those to runs, one leases, and one what machines share apart
// from runs. Each has a connection of its own that no reader can take: what waits, up to 256
// writes, goes out as one batch, which is one round trip, one transaction and one sync. All appends
// in it are one statement, each refused for itself alone (group.go). If the database refuses the
// batch each write is made alone. What failed because two transactions were in each other's way, or
// because a connection broke, is tried again: every write may be made twice. Why one was refused is
// asked by whoever waits for it.
//
// # Time and owners
//
// Leases end by the database's clock alone (clock_timestamp()). All that an owner holds are kept by
// one row, which is deleted first by whoever takes one of its runs (leases.go). Two owners of one
// name in two stores that are open are two: each store has an id of its own, its member.
//
// # Listing
//
// Runs are listed in the order of their age, by an index for each thing that one of many values is
// asked of. What few have, a label or some words, is found by tables that triggers keep (search.go).
//
// # Following
//
// A process that follows runs of others is told when they are written to, by at most one NOTIFY
// in 20 ms from each process, which names them (doorbell.go). Every 100 ms one query asks how far the
// followed runs are, whatever was said or lost. There is no other need for LISTEN, no advisory lock
// but for migrations, and no order by identity, so that it works behind a pooler in transaction
// mode, too: say default_query_exec_mode=exec in its address.
package postgres
