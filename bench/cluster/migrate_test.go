package cluster

import (
	"os/exec"
	"path/filepath"
	"strings"
)

// Where the list of migrations ends, and one that the next version could have.
const (
	last = "}\n\n// lockMigration"
	more = ", `\nALTER TABLE mulligan.runs ADD COLUMN later text NOT NULL DEFAULT '';\nCREATE INDEX runs_later ON mulligan.runs (later) WHERE later <> '';\n`"
)

// unready builds the next version, which refuses what the others write to until that was migrated.
func (c *cluster) unready() {
	c.Helper()
	if c.next = filepath.Join(c.dir, "newer"); !exists(c.next) {
		schema, err := filepath.Abs(filepath.Join("..", "..", "timeline", "postgres", "schema.go"))
		if err != nil {
			c.Fatal(err)
		}
		build(c.T, c.next, map[string]string{schema: changed(c.T, schema, last, more+last)})
	}
	c.refuses(c.next, "run `mulligan store migrate`")
}

// refuses holds that a program refuses the database, and says so.
func (c *cluster) refuses(program, why string) {
	c.Helper()
	out, err := c.run(program, "store", "check")
	if err == nil || !strings.Contains(out, why) {
		c.Errorf("%s store check: %v: %s", filepath.Base(program), err, out)
	}
}

// run has a program do something in the place of the first member.
func (c *cluster) run(program string, args ...string) (string, error) {
	m := c.members[0]
	cmd := exec.CommandContext(c.Context(), program, args...)
	cmd.Dir, cmd.Env = m.dir, m.environment()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// upgrade migrates the database while all members write to it, and then has one after the other be the next version.
func (c *cluster) upgrade(hit *member) {
	c.Helper()
	if out, err := c.run(c.next, "store", "migrate"); err != nil {
		c.Errorf("store migrate: %v: %s", err, out)
	}
	c.refuses(c.program, "was written by a newer version")
	c.inTurn(hit, func(m *member) { m.becomes(c.next) }) // both versions work beside each other
}

// downgrade puts the database and the members back, which nobody but a test does.
func (c *cluster) downgrade() {
	c.execute("ALTER TABLE mulligan.runs DROP COLUMN later; UPDATE mulligan.schema SET version = version - 1")
	for _, m := range c.members {
		m.becomes("")
	}
}
