package devtools

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/internal/build"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/show"
)

// NewScaffold checks what the flags ask for, as far as possible before anything is
// written.
func NewScaffold(name, lang, dir, checkout string) (*Scaffold, error) {
	language, ok := languages[lang]
	if !ok {
		if lang == "" {
			return nil, exit.Usagef("say in which language: --lang %s", strings.Join(LanguageNames(), "|"))
		}
		return nil, exit.Usagef("--lang is one of %s, not %q", strings.Join(LanguageNames(), ", "), lang)
	}
	if err := language.checkName(name); err != nil {
		return nil, exit.Usage(err)
	}
	sdk, err := findSDK(checkout, build.Version())
	if err != nil {
		return nil, exit.Usage(err)
	}
	s := &Scaffold{Name: name, language: language, sdk: sdk, dir: cmp.Or(dir, name), folder: lang}
	return s, s.vacant()
}

// vacant refuses a folder that is not empty, except for a repository without files.
func (s *Scaffold) vacant() error {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return exit.Usage(err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".git" })
	if len(entries) > 0 {
		return exit.Usagef("%s is not empty: it has %s; --dir names another folder", s.dir, entries[0].Name())
	}
	return nil
}

// Write writes all files, and the link to the checkout if one was named.
func (s *Scaffold) Write() error {
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

// Next says what was created and what to type.
func (s *Scaffold) Next() string {
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
		{"cd " + show.ShellQuote(s.dir), ""},
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

// Mulligan is a command for this program that works from any folder.
func (s *Scaffold) Mulligan() string {
	self, err := os.Executable()
	if err != nil {
		return "mulligan"
	}
	found, err := exec.LookPath("mulligan")
	if err != nil || !sameFile(found, self) {
		return show.ShellQuote(self)
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
