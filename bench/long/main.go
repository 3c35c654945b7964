package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	tests := flag.Bool("tests", false, "print the pattern of the tests")
	packages := flag.Bool("packages", false, "print the folders of their packages")
	top := flag.String("top", "..", "the repository's top")
	flag.Parse()
	if *tests == *packages {
		fmt.Fprintln(os.Stderr, "long: say either -tests or -packages")
		os.Exit(2)
	}
	found, err := find(os.DirFS(*top))
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("no test of %s asks testing.Short", *top)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "long:", err)
		os.Exit(1)
	}
	if *packages {
		fmt.Println(strings.Join(slices.Sorted(maps.Keys(found)), "\n"))
		return
	}
	fmt.Println(pattern(found))
}

// pattern matches exactly these tests.
func pattern(found map[string][]string) string {
	all := slices.Concat(slices.Collect(maps.Values(found))...)
	slices.Sort(all)
	return "^(" + strings.Join(slices.Compact(all), "|") + ")$"
}
