package plugininstall

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/host/trust"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/recovery"
)

// offer is what a person agrees to, in lines.
func (p *Package) offer() []string {
	lines := []string{terminal.OneLine(p.title() + ", from " + p.Source.String())}
	add := func(what, text string) {
		if text != "" {
			lines = append(lines, fmt.Sprintf("  %-10s %s", what, terminal.OneLine(text)))
		}
	}
	add("what", p.Manifest.Description)
	add("starts by", strings.ReplaceAll(strings.Join(p.Command, " "), p.Folder+"/", "")) // its files are in its folder
	add("fetched", p.Checksum)
	add("folder", fmt.Sprintf("%d files, sha256 %s", p.Files, p.SHA256))
	add("is asked", "about "+strings.Join(p.occasions(), ", "))
	add("gets", cmp.Or(strings.Join(asks(p.Manifest), "; and "), "nothing of your environment, and not what is said in runs"))
	return append(lines, "It runs as a program of yours: what you may do on this machine, it may do.")
}

func (p *Package) title() string { return strings.TrimSpace(p.Name + " " + p.Version) }

func (p *Package) occasions() []string {
	if len(p.Manifest.Occasions) == 0 {
		return []string{recovery.HookRunError}
	}
	return p.Manifest.Occasions
}

// asks is what a plugin asks for, in words.
func asks(m trust.Manifest) (list []string) {
	if len(m.Env) > 0 {
		list = append(list, "the environment's "+strings.Join(slices.Sorted(slices.Values(m.Env)), ", "))
	}
	if m.Transcript == trust.TranscriptMessages {
		list = append(list, "what is said in the runs that it is asked about, tools' arguments and results included")
	}
	return list
}

// grant is what a person who agrees grants the plugin, and the pin.
func (p *Package) grant() trust.Entry {
	e := trust.Entry{SHA256: p.SHA256, Files: p.Files, Contents: trust.Contents(p.Folder), Env: slices.Sorted(slices.Values(p.Manifest.Env))}
	if p.Manifest.Transcript == trust.TranscriptMessages {
		e.Transcript = trust.TranscriptMessages
	}
	return e
}
