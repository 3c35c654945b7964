package cluster

import (
	"os/exec"
	"path/filepath"
	"strings"
)

// The place where the list of migrations ends, and a migration that the next version could have.
const (
	last = "}\n\n// lockMigration"
	more = ", `\nALTER TABLE mulligan.runs ADD COLUMN later text NOT NULL DEFAULT '';\nCREATE INDEX runs_later ON mulligan.runs (later) WHERE later <> '';\n`"
)

// unready builds the next version, which refuses the database until it is migrated.
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

// refuses requires that a program refuses the database and says why.
func (c *cluster) refuses(program, why string) {
	c.Helper()
	out, err := c.run(program, "store", "check")
	if err == nil || !strings.Contains(out, why) {
		c.Errorf("%s store check: %v: %s", filepath.Base(program), err, out)
	}
}

// run runs a program in the first member's environment.
func (c *cluster) run(program string, args ...string) (string, error) {
	m := c.members[0]
	cmd := exec.CommandContext(c.Context(), program, args...)
	cmd.Dir, cmd.Env = m.dir, m.environment()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// upgrade migrates the database while all members write to it, and then replaces one member after
// another by the next version.
func (c *cluster) upgrade(hit *member) {
	c.Helper()
	if out, err := c.run(c.next, "store", "migrate"); err != nil {
		c.Errorf("store migrate: %v: %s", err, out)
	}
	c.refuses(c.program, "was written by a newer version")
	c.inTurn(hit, func(m *member) { m.becomes(c.next) }) // both versions run side by side
}

// downgrade restores the database and the members. No product command does that.
func (c *cluster) downgrade() {
	c.execute("ALTER TABLE mulligan.runs DROP COLUMN later; UPDATE mulligan.schema SET version = version - 1")
	for _, m := range c.members {
		m.becomes("")
	}
}
