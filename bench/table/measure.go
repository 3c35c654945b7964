package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// metrics are what one benchmark reported, by unit.
type metrics map[string]float64

// results are all metrics, by folder and benchmark: "bench.Hook".
type results map[string]metrics

func key(dir, bench string) string { return dir + "." + bench }

// measure runs the benchmarks of the rows, folder by folder.
func measure(ctx context.Context, each time.Duration) (results, error) {
	wanted := map[string][]string{}
	var dirs []string
	for _, r := range rows {
		if !slices.Contains(dirs, r.dir) {
			dirs = append(dirs, r.dir)
		}
		if name, _, _ := strings.Cut(r.bench, "/"); !slices.Contains(wanted[r.dir], name) {
			wanted[r.dir] = append(wanted[r.dir], name)
		}
	}
	wanted["bench"] = append(wanted["bench"], languageBench)
	all := results{}
	var errs []error
	for _, dir := range dirs {
		if dir == compat {
			if _, err := os.Stat(filepath.Join(root, dir, "go.mod")); errors.Is(err, fs.ErrNotExist) {
				continue
			}
		}
		errs = append(errs, goTest(ctx, dir, wanted[dir], each, all))
	}
	return all, errors.Join(errs...)
}

// goTest adds the results of one folder's benchmarks to all, and prints other output.
func goTest(ctx context.Context, dir string, names []string, each time.Duration, all results) error {
	pattern := "^Benchmark(" + strings.Join(names, "|") + ")$"
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", pattern, "-benchtime", each.String(), ".")
	cmd.Dir = filepath.Join(root, dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "measuring in %s: %s\n", dir, strings.Join(names, ", "))
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if name, m, ok := parse(lines.Text()); ok {
			fmt.Fprintf(os.Stderr, "  %s\n", name)
			all[key(dir, name)] = m
		} else if !chatter(lines.Text()) {
			fmt.Fprintln(os.Stderr, lines.Text())
		}
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("the benchmarks of %s: %w", dir, err)
	}
	return lines.Err()
}

// parse reads a line such as "BenchmarkHook-2  100  1.5 p50-us  3.1 p99-us".
func parse(line string) (name string, m metrics, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
		return "", nil, false
	}
	name = strings.TrimPrefix(fields[0], "Benchmark")
	if i := strings.LastIndexByte(name, '-'); i >= 0 {
		name = name[:i]
	}
	m = metrics{}
	for pair := range slices.Chunk(fields[2:], 2) {
		value, err := strconv.ParseFloat(pair[0], 64)
		if err != nil || len(pair) != 2 {
			return "", nil, false
		}
		m[pair[1]] = value
	}
	return name, m, true
}

// chatter reports whether a line is what go test prints around results.
func chatter(line string) bool {
	word, _, _ := strings.Cut(line, " ")
	switch word {
	case "", "goos:", "goarch:", "pkg:", "cpu:", "PASS":
		return true
	}
	return strings.HasPrefix(line, "ok ")
}
