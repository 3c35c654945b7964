// Package sqlite keeps a timeline in one folder, for any number of processes of one
// machine.
//
//	store, err := sqlite.Open(ctx, dir)
//	…
//	defer store.Close()
//
// What is in the folder (0700), each file 0600:
//
//	timeline.db          the database, with its -wal and -shm beside it
//	owners/<id>.lock     one per open Store, locked (flock) as long as it lives
//	reserve              1 MiB that is given up where a full disk has no space to delete in
//
// # Writing
//
// All writes of a Store go through one goroutine, the committer. It takes what waits, and
// what comes while it is at that, up to 256 writes, into one BEGIN IMMEDIATE transaction
// and answers them when SQLite has committed: WAL with synchronous=FULL, so an answer comes
// after the fsync. Writers never wait for one another's locks, and 64 of them share an
// fsync. What nobody waits for, the text of an answer that is still being heard and leases
// that are kept or given back, has transactions of its own, at most one in 20 ms, so that
// nobody has to wait for it either. Small events lie first in one table that all runs share
// (recent), so that a transaction writes few pages, and move to their runs 2,048 at a time,
// where up to 32 that follow one another become one row, packed where a short run is that (pack.go). Until then the row of a run (in
// runs) is left as it was where they move only its end and its course: the view heads is the rows as they
// would be. The committer remembers those of its runs until PRAGMA data_version says that
// another process has written. What is in the write-ahead log moves to the database beside
// all that (wal.go).
//
// What is deleted goes in pieces, so that others write in between: first the rows of runs,
// then what they have left behind (delete.go). The database is written anew after that
// (wipe.go).
//
// # Reading and following
//
// Runs are listed by an index that has all they are looked for by, the newest first. What few have,
// a label or some words, is found by tables that triggers keep (search.go).
//
// Readers have their own connections and wait for nobody. Followers in the
// appender's process get events and live text from it directly; every 100 ms, while somebody
// follows, the committer asks PRAGMA data_version whether another process has
// committed anything, and if so the store looks up how far the followed runs are, and what
// was saved of the text of their attempts (tail.go).
//
// # Owners
//
// A lease carries the id of its Store's lock file. If that lock can be taken, its
// process is dead and its runs may be claimed at once; a process that lives but
// does not renew (stopped, suspended) keeps its runs until the lease expires.
// Expiry is by the machine's wall clock. flock does not hold across machines: the
// folder belongs on a local disk, not on NFS.
//
// # Versions
//
// The schema's version is PRAGMA user_version. Open brings an older one up to date
// and refuses a newer one.
package sqlite
