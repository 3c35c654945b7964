package main

import (
	"context"
	"fmt"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/plugininstall"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/plugins/index"
	"github.com/mulligan-run/mulligan/show"
)

const searchHelp = `Search the plugins of an index, by words that stand in a name, a description, a
language or a source. This program carries an index of its own, with the examples
of its repository. Another one is a file, or an https:// address, with its
signature beside it under the same name and .sig; it is believed only if it is
signed with the key in mulligan.yaml:

  plugin_index: {url: "https://plugins.example.com/index.json", key: hWJ…=}

docs/install-a-plugin.md says what is in an index, and how one is signed.`

func newPluginSearch() *cobra.Command {
	var (
		f      common
		at     string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:     "search [WORD…]",
		Short:   "Find plugins in an index",
		Long:    searchHelp,
		Example: "mulligan plugin search\nmulligan plugin search python webhook\nmulligan plugin search --index ./index.json",
		RunE: f.loaded(func(cmd *cobra.Command, a *app, words []string) error {
			in, err := a.installer(cmd, false)
			if err != nil {
				return err
			}
			ctx, stop := a.interruptible(cmd.Context())
			defer stop()
			list, err := a.indexed(ctx, in, at)
			if err != nil {
				return interrupted(ctx, err)
			}
			return a.tellListed(plugininstall.Search(list, words), asJSON)
		}),
	}
	f.register(cmd)
	cmd.Flags().StringVar(&at, "index", "", "a file or an https:// address (default: plugin_index.url of the config, and our own)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON lines")
	return cmd
}

// indexed lists the plugins of the named index or, if none is named, of the configured one
// and our own.
func (a *app) indexed(ctx context.Context, in *plugininstall.Installer, at string) ([]plugininstall.Listed, error) {
	key := a.Config.PluginIndex.PublicKey()
	if at != "" {
		return in.ReadIndex(ctx, at, key)
	}
	list, err := plugininstall.ParseIndex(index.JSON)
	if err != nil || a.Config.PluginIndex == nil || a.Config.PluginIndex.URL == "" {
		return list, err
	}
	others, err := in.ReadIndex(ctx, a.Config.PluginIndex.URL, key)
	return append(others, list...), err
}

// known are plugins that somebody who mistypes a name may mean: our own list, which needs no request.
func (a *app) known() []plugininstall.Listed {
	list, _ := plugininstall.ParseIndex(index.JSON) // it is covered by a test
	return list
}

func (a *app) tellListed(list []plugininstall.Listed, asJSON bool) error {
	encoder := show.JSON(a.Screen.Out)
	for _, l := range list {
		if asJSON {
			if err := encoder.Encode(l); err != nil {
				return err
			}
			continue
		}
		s := a.Screen.OnStdout()
		s.Line(s.Ink.Bold(l.Name) + "  " + terminal.OneLine(l.Language))
		s.Line(show.Indent(ansi.Wrap(terminal.OneLine(l.Description), show.PageWidth-len(under), ""), under))
		if l.Source != "" {
			s.Line(under + a.Screen.Hint("plugin install "+show.ShellQuote(l.Source)))
		} else {
			s.Line(under + "in no registry: build it as its page says, and install its folder")
		}
		if l.Page != "" {
			s.Line(under + terminal.OneLine(l.Page))
		}
	}
	if len(list) == 0 && !asJSON {
		a.Screen.Line(fmt.Sprintf("Nothing is found: `%s` lists all.", a.Screen.Hint("plugin search")))
	}
	return nil
}
