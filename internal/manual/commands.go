package manual

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commands are root and all commands below it that people type, in the order of
// --help.
func commands(root *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{root}
	for _, c := range root.Commands() {
		if !c.Hidden && c.Name() != "help" && c.Name() != "completion" {
			all = append(all, commands(c)...)
		}
	}
	return all
}

// flags are the command's own flags, and those that it inherits.
func flags(c *cobra.Command) []*pflag.Flag {
	var all []*pflag.Flag
	see := func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			all = append(all, f)
		}
	}
	c.NonInheritedFlags().VisitAll(see)
	c.InheritedFlags().VisitAll(see)
	slices.SortFunc(all, func(a, b *pflag.Flag) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// spelled is a flag as it is typed, and its description.
func spelled(f *pflag.Flag) (typed, usage string) {
	kind, usage := pflag.UnquoteUsage(f)
	typed = "--" + f.Name
	if f.Shorthand != "" {
		typed = "-" + f.Shorthand + ", " + typed
	}
	if kind != "" {
		typed += " " + kind
	}
	if d := f.DefValue; d != "" && d != "false" && d != "0" && d != "[]" && d != "0s" {
		usage += " (default " + d + ")"
	}
	return typed, usage
}

// about is a command's long description.
func about(c *cobra.Command) string {
	if c.Long != "" {
		return strings.TrimSpace(c.Long)
	}
	return c.Short + "."
}
