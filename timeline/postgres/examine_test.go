package postgres

import (
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// TestFindings: what loses events is grave before it has lost any.
func TestFindings(t *testing.T) {
	sound := facts{
		version: 15_00_13, text: "15.13", commit: "on", sync: "on", pages: "on", named: "ANY 1 (*)", standbys: 2, inStep: 1, lag: time.Millisecond,
		statement: "4s", idle: "2s", used: 20, most: 100, reserved: 3,
	}
	for what, test := range map[string]struct {
		change func(*facts)
		says   string // one finding
		grave  bool
	}{
		"sound":        {func(*facts) {}, "1 of them synchronous, 1ms behind", false},
		"old":          {func(f *facts) { f.version, f.text = 14_00_02, "14.2" }, "14.2 is older than 15", true},
		"commit":       {func(f *facts) { f.commit = "off" }, "synchronous_commit is off", true},
		"fsync":        {func(f *facts) { f.sync = "off" }, "fsync is off", true},
		"asynchronous": {func(f *facts) { f.named, f.inStep = "", 0 }, "none of them synchronous", true},
		"local":        {func(f *facts) { f.commit = "local" }, "synchronous_commit is local", true},
		"standby away": {func(f *facts) { f.standbys, f.inStep = 0, 0 }, "writes wait for one", true},
		"alone":        {func(f *facts) { f.named, f.standbys, f.inStep = "", 0, 0 }, "no standby is connected", false},
		"fast standby": {func(f *facts) { f.ahead = 10 * time.Second }, "clock is 10s fast", false},
		"no timeout":   {func(f *facts) { f.idle = "0" }, "have no statement_timeout or no idle", false},
		"nearly full":  {func(f *facts) { f.used = 90 }, "90 of 100 connections", false},
		"full":         {func(f *facts) { f.used = 97 }, "97 of 100 connections", true},
	} {
		f := sound
		test.change(&f)
		said, grave := false, false
		for _, finding := range f.findings() {
			grave = grave || finding.Grave
			said = said || strings.Contains(finding.Text, test.says) && finding.Grave == test.grave
			if finding.Grave && finding.Advice == "" {
				t.Errorf("%s: nothing is to be done about %q", what, finding.Text)
			}
		}
		if !said || grave != test.grave {
			t.Errorf("%s: %+v", what, f.findings())
		}
	}
}

// TestExamine: a database is asked for all that is judged.
func TestExamine(t *testing.T) {
	findings, err := Examine(t.Context(), pgtest.Database(t)+"&synchronous_commit=off")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(findings[0].Text, "PostgreSQL ") || !strings.Contains(findings[1].Text, "synchronous_commit is off") {
		t.Errorf("%+v", findings)
	}
}

// TestExamineStandby: what a standby says of its own time is heard before it takes over.
func TestExamineStandby(t *testing.T) {
	db := pgtest.Begin(t)
	db.Standby(t)
	do(t, db.URL(), `CREATE SCHEMA off;
		CREATE FUNCTION off.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$ SELECT pg_catalog.clock_timestamp() - interval '1 hour' $$`)
	for _, test := range []struct{ path, says string }{{"pg_catalog", "synchronous, "}, {"off, pg_catalog", "clock is 1h0m0s fast"}} {
		do(t, db.URL(), "ALTER ROLE ALL SET search_path = "+test.path)
		findings, err := Examine(t.Context(), db.URL())
		last := len(findings) - 2 // before what it says of its connections
		if err != nil || last < 0 || !strings.Contains(findings[last].Text, test.says) {
			t.Errorf("with search_path = %s: %+v, %v", test.path, findings, err)
		}
	}
}
