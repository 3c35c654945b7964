package pluginpublish

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/host/trust"
	"github.com/mulligan-run/mulligan/recovery"
)

// Finding is one thing that was checked.
type Finding struct {
	What string // as it is, or should be
	Lack string // what is missing, and what to do; "" = nothing
}

// Report is what was found, in the order in which it is shown.
type Report struct {
	Language string // for people; "" = none that is known
	Findings []Finding
	Publish  []string // command lines by which it is published
}

// Lacks is how many things are missing.
func (r *Report) Lacks() (n int) {
	for _, f := range r.Findings {
		if f.Lack != "" {
			n++
		}
	}
	return n
}

func (r *Report) add(what string, lacks bool, lack string, args ...any) {
	f := Finding{What: what}
	if lacks {
		f.Lack = fmt.Sprintf(lack, args...)
	}
	r.Findings = append(r.Findings, f)
}

// folder is a plugin's folder, read only within itself.
type folder struct {
	*os.Root
	manifest trust.Manifest
}

// maxFile is how much is read of any file, in bytes.
const maxFile = 1 << 20

// read gives a file's text, "" if there is none.
func (f *folder) read(name string) string {
	if info, err := f.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return ""
	}
	text, err := f.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(text)
}

func (f *folder) has(name string) bool {
	info, err := f.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// asks reports whether the manifest must be in the package for the plugin to get what it
// needs.
func (f *folder) asks() bool {
	return len(f.manifest.Env)+len(f.manifest.Occasions) > 0 || f.manifest.Transcript == trust.TranscriptMessages
}

// Check looks at a plugin's folder.
func Check(path string) (*Report, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	f, r := &folder{Root: root}, &Report{}
	r.manifest(f, path)
	names, err := topFiles(root)
	if err != nil {
		return nil, err
	}
	r.add("a licence", !slices.ContainsFunc(names, func(name string) bool { return begins(name, "license", "licence", "copying") }),
		"without a file LICENSE nobody may use it: choose one")
	r.add("a README", !slices.ContainsFunc(names, func(name string) bool { return begins(name, "readme") && strings.TrimSpace(f.read(name)) != "" }),
		"people read README.md before they install: say what it decides, and how it is configured")
	r.pack(f)
	return r, nil
}

func topFiles(root *os.Root) (names []string, err error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, entry := range entries {
		if entry.Type().IsRegular() {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

func begins(name string, with ...string) bool {
	return slices.ContainsFunc(with, func(lead string) bool { return strings.HasPrefix(strings.ToLower(name), lead) })
}

func (r *Report) manifest(f *folder, path string) {
	var err error
	if !f.has(trust.ManifestName) {
		err = errors.New("it is not there: it says how the plugin is called, how it starts, and what it asks for")
	} else {
		f.manifest, err = trust.ReadManifest(path)
	}
	r.add(trust.ManifestName, err != nil, "%v", err)
	if err != nil {
		return
	}
	m := f.manifest
	r.add("a name", m.Name == "", "%s has no name:", trust.ManifestName)
	r.add("a version", m.Version == "", "%s has no version:, which people see before they install or update it", trust.ManifestName)
	r.add("a description", m.Description == "", "%s has no description:, one sentence", trust.ManifestName)
	r.add("a command", len(m.Command) == 0, "%s has no command:, by which it starts in its folder, such as [bin/my-rules]", trust.ManifestName)
	for _, occasion := range m.Occasions {
		if !slices.Contains(recovery.Hooks, occasion) {
			r.add("occasions", true, "there is no occasion %q; there are: %s", occasion, strings.Join(recovery.Hooks, ", "))
		}
	}
}
