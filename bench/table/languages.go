package main

import (
	"errors"
	"fmt"

	"github.com/mulligan-run/mulligan/sdk/conformance/plugins"
)

// The benchmark of plugins by language. It has sub-benchmarks, and its metrics begin with the name
// of the language, or of the bare server.
const (
	languageBench = "Plugins"
	bareName      = "grpc"
)

var languageHead = line{
	"", "cold start", "call p50", "p99", "to bare", "calls/s by 1", "by 8", "by 32", "memory after load",
}

// titles are the display names of languages.
var titles = map[string]string{"go": "Go", "python": "Python", "typescript": "TypeScript", "rust": "Rust", "java": "Java"}

// languageLines are a line for the bare server and one for each language; a language whose
// toolchain is missing is shown as missing. The error names missing benchmarks.
func languageLines(all results) ([]line, error) {
	lines := []line{{"bare grpc-go"}}
	cells, err := languageCells(all, bareName)
	lines[0] = append(lines[0], cells...)
	errs := []error{err}
	for _, l := range plugins.Languages {
		if tool := l.Missing(); tool != "" {
			lines = append(lines, line{titles[l.Name], "missing: " + tool})
			continue
		}
		cells, err := languageCells(all, l.Name)
		lines = append(lines, append(line{titles[l.Name]}, cells...))
		errs = append(errs, err)
	}
	return lines, errors.Join(errs...)
}

// languageCells are the cells after a name.
func languageCells(all results, name string) (line, error) {
	part := func(part string) metrics { return all[key("bench", languageBench+"/"+part)] }
	start, call, memory := part("start"), part("call"), part("memory")
	one, eight, many := part("callers1"), part("callers8"), part("callers32")
	prefix := name + "-"
	if _, ok := memory[prefix+"rss-MB"]; !ok {
		return line{"MISSING"}, fmt.Errorf("no result of Benchmark%s for %s", languageBench, name)
	}
	perSecond := func(m metrics) string { return fmt.Sprintf("%.0f", m[prefix+perSec]) }
	return line{
		fmt.Sprintf("%.0f ms", start[prefix+p50]/1000), micros(call[prefix+p50]), micros(call[prefix+p99]),
		fmt.Sprintf("%.2f×", call[prefix+p50]/call[bareName+"-"+p50]),
		perSecond(one), perSecond(eight), perSecond(many), fmt.Sprintf("%.0f MB", memory[prefix+"rss-MB"]),
	}, nil
}
