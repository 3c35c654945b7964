package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/faultlab"
)

// newFlags are the flags of plugin new.
type newFlags struct {
	lang, dir, sdk string
}

const newHelp = `Write a plugin to begin with: rules that decide something, a test of them, a
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
		Use:     "new NAME --lang " + strings.Join(languageNames(), "|"),
		Short:   "Write a plugin to begin with",
		Long:    newHelp,
		Example: "mulligan plugin new my-rules --lang python\nmulligan plugin new my-rules --lang rust --dir plugins/mine",
		Args:    cobra.ExactArgs(1),
		RunE: verb(func(cmd *cobra.Command, args []string) error {
			made, err := f.newborn(args[0])
			if err != nil {
				return err
			}
			if err := made.write(); err != nil {
				return err
			}
			fmt.Fprint(cmd.OutOrStdout(), made.next())
			return nil
		}),
	}
	cmd.Flags().StringVar(&f.lang, "lang", "", "the language: "+strings.Join(languageNames(), ", "))
	cmd.Flags().StringVar(&f.dir, "dir", "", "the folder, empty or new (default ./NAME)")
	cmd.Flags().StringVar(&f.sdk, "sdk", "", "a checkout of Mulligan to take the SDK from")
	return cmd
}

// newborn is what the flags ask for, checked as far as it can be before it is written.
func (f *newFlags) newborn(name string) (*newborn, error) {
	language, ok := languages[f.lang]
	if !ok {
		return nil, usagef("--lang is one of %s, not %q", strings.Join(languageNames(), ", "), f.lang)
	}
	if err := language.checkName(name); err != nil {
		return nil, usage(err)
	}
	sdk, err := findSDK(f.sdk, version())
	if err != nil {
		return nil, usage(err)
	}
	s := &newborn{Name: name, language: language, sdk: sdk, dir: orElse(f.dir, name), folder: f.lang}
	return s, s.vacant()
}

// vacant refuses a folder that has anything in it, but for a repository without files.
func (s *newborn) vacant() error {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return usage(err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".git" })
	if len(entries) > 0 {
		return usagef("%s is not empty: it has %s; --dir names another folder", s.dir, entries[0].Name())
	}
	return nil
}

// write writes all files, and the link to the checkout if one was named.
func (s *newborn) write() error {
	files, err := s.files()
	if err != nil {
		return err
	}
	if s.Carried() {
		sources, err := s.carried()
		if err != nil {
			return err
		}
		files = append(files, sources...)
	}
	for _, file := range files {
		path := filepath.Join(s.dir, file.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, file.content, 0o644); err != nil {
			return err
		}
	}
	if !s.Checkout() {
		return nil
	}
	return os.Symlink(s.sdk.checkout, filepath.Join(s.dir, sdkFolder))
}

// next says what was made and what to type.
func (s *newborn) next() string {
	var text strings.Builder
	fmt.Fprintf(&text, "Made %s, a plugin in %s.\n", s.Name, s.Title)
	if s.Checkout() {
		fmt.Fprintf(&text, "Its SDK is that of the checkout %s, to which %s is a link.\n", s.sdk.checkout, filepath.Join(s.dir, sdkFolder))
	}
	if s.Carried() {
		fmt.Fprintf(&text, "Its SDK is in %s, a copy of what this mulligan (%s) carries.\n", filepath.Join(s.dir, sdkFolder), s.sdk.build)
	}
	program, given := s.Mulligan(), ""
	if program != "mulligan" {
		given = " MULLIGAN=" + program
	}
	for _, line := range [][2]string{
		{"cd " + shellQuote(s.dir), ""},
		{"make test" + given, "# its tests, and then: mulligan plugin test"},
		{fmt.Sprintf("%s run %q", program, faultlab.DemoPrompt), "# it decides real failures; no key is needed"},
	} {
		fmt.Fprintf(&text, "\n    %s", line[0])
		if line[1] != "" {
			fmt.Fprintf(&text, "   %s", line[1])
		}
	}
	return text.String() + "\n"
}

// Mulligan is how this program is called from anywhere.
func (s *newborn) Mulligan() string {
	self, err := os.Executable()
	if err != nil {
		return "mulligan"
	}
	found, err := exec.LookPath("mulligan")
	if err != nil || !sameFile(found, self) {
		return shellQuote(self)
	}
	return "mulligan"
}

func sameFile(one, other string) bool {
	a, err := os.Stat(one)
	if err != nil {
		return false
	}
	b, err := os.Stat(other)
	return err == nil && os.SameFile(a, b)
}
