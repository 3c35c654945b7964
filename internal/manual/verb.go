package manual

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/exit"
)

// NewVerb makes the command that prints manual pages of its sibling commands, for a
// version.
func NewVerb(version string) *cobra.Command {
	var (
		dir      string
		markdown bool
	)
	cmd := &cobra.Command{
		Use:     "man [VERB...]",
		Short:   "Print a page of the manual, or write all of them",
		Example: "mulligan man run | man -l -\nmulligan man --dir ~/.local/share/man/man1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if markdown {
				_, err := cmd.OutOrStdout().Write([]byte(Markdown(cmd.Root())))
				return err
			}
			pages := Pages(cmd.Root(), version, time.Now())
			if dir != "" {
				return write(pages, dir)
			}
			name := strings.Join(append([]string{cmd.Root().Name()}, args...), "-") + ".1"
			for _, p := range pages {
				if p.Name == name {
					_, err := cmd.OutOrStdout().Write([]byte(p.Roff))
					return err
				}
			}
			return exit.Usagef("there is no page of mulligan %s", strings.Join(args, " "))
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write the pages of all verbs into this folder")
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print all of it as one page of Markdown")
	return cmd
}

func write(pages []Page, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return exit.Usage(err)
	}
	for _, p := range pages {
		if err := os.WriteFile(filepath.Join(dir, p.Name), []byte(p.Roff), 0o644); err != nil { //nolint:gosec // it is for everybody
			return exit.Usage(err)
		}
	}
	return nil
}
