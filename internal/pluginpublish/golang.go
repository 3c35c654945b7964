package pluginpublish

import (
	"regexp"
	"strings"
)

var (
	goModule  = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)
	goReplace = regexp.MustCompile(`(?m)^\s*replace\b|^replace\s*\(`)
	goMain    = regexp.MustCompile(`(?m)^package main\b`)
)

func (r *Report) golang(f *folder) {
	text := f.read("go.mod")
	module := ""
	if m := goModule.FindStringSubmatch(text); m != nil {
		module = m[1]
	}
	host, _, _ := strings.Cut(module, "/")
	r.add("a module that can be fetched", !strings.Contains(host, ".") || host == "example.com" || host == module,
		"module %s in go.mod is not where the source is, such as github.com/you/my-rules", module)
	r.add("no replace", goReplace.MatchString(text), "go.mod has a replace, with which `go install` refuses a module: take it out once its SDK is a version")
	r.add("go.sum", !f.has("go.sum"), "it is not there: go mod tidy")
	r.add("a program", !f.mainPackage(), "the package at the top is not main: `plugin install go:` compiles one program")
}

func (f *folder) mainPackage() bool {
	names, err := topFiles(f.Root)
	if err != nil {
		return false
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && goMain.MatchString(f.read(name)) {
			return true
		}
	}
	return false
}
