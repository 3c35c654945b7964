package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/devtools"
)

// newFlags are the flags of plugin new.
type newFlags struct {
	lang, dir, sdk string
}

const newHelp = `Create a new plugin to start from: rules that decide something, a test of them, a
README, a Makefile whose "make test" sets itself up and holds the plugin to the
protocol, a workflow for GitHub Actions, and a mulligan.yaml to try it with,
which needs no key.

A release takes its SDK from the language's registry. A development build, whose
SDK is in no registry, writes the one that it carries into .mulligan in the
plugin's folder. --sdk makes that a link to a checkout of Mulligan, for those who
change both. What an SDK depends on is fetched the first time.`

func newPluginNew() *cobra.Command {
	f := &newFlags{}
	cmd := &cobra.Command{
		Use:     "new NAME --lang LANGUAGE",
		Short:   "Create a new plugin to start from",
		Long:    newHelp,
		Example: "mulligan plugin new my-rules --lang python\nmulligan plugin new my-rules --lang rust --dir plugins/mine",
		Args:    takes(1, 1),
		RunE: verb(func(cmd *cobra.Command, args []string) error {
			made, err := devtools.NewScaffold(args[0], f.lang, f.dir, f.sdk)
			if err != nil {
				return err
			}
			if err := made.Write(); err != nil {
				return err
			}
			fmt.Fprint(cmd.OutOrStdout(), made.Next())
			return nil
		}),
	}
	cmd.Flags().StringVar(&f.lang, "lang", "", "the language: "+strings.Join(devtools.LanguageNames(), ", "))
	cmd.Flags().StringVar(&f.dir, "dir", "", "the folder, empty or new (default ./NAME)")
	cmd.Flags().StringVar(&f.sdk, "sdk", "", "a checkout of Mulligan to take the SDK from")
	return cmd
}
