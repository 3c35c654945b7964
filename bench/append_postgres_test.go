package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/postgres"
	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// BenchmarkAppend1Postgres is BenchmarkAppend1 for a log in a database on this machine, which costs
// a round trip and a sync.
func BenchmarkAppend1Postgres(b *testing.B) {
	const each = 64
	a := newAppender(b, openPostgres(b), "run")
	raw, err := os.OpenFile(filepath.Join(b.TempDir(), "raw"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer raw.Close()
	var log, file rate
	for b.Loop() {
		log.time(each, func() { err = a.append(b, each) })
		if err == nil {
			file.time(each, func() { err = writeAndSync(raw, a.stored, each) })
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	log.report(b, "")
	file.report(b, base)
}

// BenchmarkAppend64Postgres has 64 writers append to a log in a database, and as many to one in
// SQLite. It also reports how long a writer waits for an append.
func BenchmarkAppend64Postgres(b *testing.B) {
	const writers, each = 64, 16
	inDatabase, inFile := newAppenders(b, openPostgres(b), writers), newAppenders(b, openStore(b), writers)
	waits := make([]spans, writers)
	var database, file rate
	for b.Loop() {
		database.time(writers*each, func() {
			sideBySide(b, writers, func(i int) (err error) {
				for n := 0; n < each && err == nil; n++ {
					waits[i].time(func() { err = inDatabase[i].append(b, 1) })
				}
				return err
			})
		})
		file.time(writers*each, func() {
			sideBySide(b, writers, func(i int) error { return inFile[i].append(b, each) })
		})
	}
	var all spans
	for _, some := range waits {
		all = append(all, some...)
	}
	all.report(b, "")
	database.report(b, "")
	file.report(b, base)
}

func newAppenders(b *testing.B, log timeline.Log, n int) []*appender {
	b.Helper()
	appenders := make([]*appender, n)
	for i := range appenders {
		appenders[i] = newAppender(b, log, fmt.Sprintf("run-%d", i))
	}
	return appenders
}

// openPostgres returns a log in an empty database of a server that syncs.
func openPostgres(b *testing.B) timeline.Log {
	b.Helper()
	log, err := postgres.Open(b.Context(), pgtest.Durable(b))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := log.Close(); err != nil {
			b.Error(err)
		}
	})
	return log
}
