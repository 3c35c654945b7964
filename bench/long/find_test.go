package main

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestFind(t *testing.T) {
	found, err := find(fstest.MapFS{
		"a/a_test.go": {Data: []byte("package a\n" +
			"func TestOwn(t *testing.T) { if testing.Short() { t.Skip() } }\n" +
			"func TestBrief(t *testing.T) { brief(t) }\n" +
			"func brief(t *testing.T) {}\n" +
			"func TestByAnother(t *testing.T) { further(t) }\n" +
			"func TestByAMethod(t *testing.T) { x{}.run(t) }\n" +
			"func (x) run(t *testing.T) { long(t) }\n" +
			"func TestMain(m *testing.M) { long(nil) }\n" +
			"func BenchmarkLong(b *testing.B) { long(nil) }\n")},
		"a/help_test.go":      {Data: []byte("package a\nfunc further(t *testing.T) { long(t) }\nfunc long(t *testing.T) { _ = testing.Short() }\n")},
		"b/b_test.go":         {Data: []byte("package b\nfunc TestElsewhere(t *testing.T) { help.Real(t) }\nfunc TestOther(t *testing.T) { help.Quick(t); long(t) }\nfunc long(t *testing.T) {}\n")},
		"c/help/help.go":      {Data: []byte("package help\nfunc Real(t *testing.T) { if testing.Short() { t.Skip() } }\nfunc Quick(t *testing.T) {}\n")},
		"d/testdata/x.go":     {Data: []byte("no Go")},
		"e/.cache/y_test.go":  {Data: []byte("no Go")},
		"e/node_modules/y.go": {Data: []byte("no Go")},
	})
	want := map[string][]string{"a": {"TestOwn", "TestByAnother", "TestByAMethod"}, "b": {"TestElsewhere"}}
	if err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("%v, %v, want %v", found, err, want)
	}
	if got := pattern(want); got != "^(TestByAMethod|TestByAnother|TestElsewhere|TestOwn)$" {
		t.Error(got)
	}
	if _, err := find(fstest.MapFS{"a/a.go": {Data: []byte("no Go")}}); err == nil {
		t.Error("what cannot be read is passed over")
	}
}

// TestNothingIsForgotten: each of the repository's test files that asks has a test that is found.
func TestNothingIsForgotten(t *testing.T) {
	all, err := functions(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	found := longTests(all)
	asked := 0
	for _, f := range all {
		if !f.test || !f.uses["testing.Short"] {
			continue
		}
		asked++
		if !slices.Contains(found[f.dir], f.name) {
			t.Errorf("%s: %s is left out by make test, and not run by make test-all", f.dir, f.name)
		}
	}
	if asked == 0 {
		t.Error("no test asks testing.Short")
	}
	for _, dir := range []string{"bench/page", "bench/pi", "cmd/mulligan"} { // through a function, through one of another package, and directly
		if len(found[dir]) == 0 {
			t.Errorf("%s has no long test: %s", dir, strings.Join(found[dir], " "))
		}
	}
}
