package packaging

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/mulligan-run/mulligan/config"
)

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestInstalledConfig: what packages put into /etc is a configuration, and so is each of its
// examples without the sign that makes it one.
func TestInstalledConfig(t *testing.T) {
	text := read(t, "mulligan.yaml")
	for _, text := range []string{text, regexp.MustCompile(`(?m)^# (\w+:)`).ReplaceAllString(text, "$1")} {
		if _, err := config.Parse([]byte(text)); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
	}
}

// TestReleaseFiles: every file that a package takes is there, or is made by the hook before it.
func TestReleaseFiles(t *testing.T) {
	var release struct {
		Before   struct{ Hooks []string }
		Archives []struct{ Files []any }
		NFPMs    []struct{ Contents []struct{ Src, Dst string } }
	}
	if err := yaml.Unmarshal([]byte(read(t, "../.goreleaser.yaml")), &release); err != nil {
		t.Fatal(err)
	}
	var sources []string
	for _, a := range release.Archives {
		for _, f := range a.Files {
			switch f := f.(type) {
			case string:
				sources = append(sources, f)
			case map[string]any:
				sources = append(sources, f["src"].(string))
			}
		}
	}
	for _, p := range release.NFPMs {
		for _, c := range p.Contents {
			if c.Src != "" {
				sources = append(sources, c.Src)
			}
		}
	}
	if len(sources) < 10 || len(release.Before.Hooks) != 1 {
		t.Fatalf("%d files, hooks %q", len(sources), release.Before.Hooks)
	}
	made := regexp.MustCompile(`^\.cache/release/(man/\*|completions/(\*|mulligan\.(bash|zsh|fish)))$`)
	for _, source := range sources {
		if _, err := os.Stat(filepath.Join("..", source)); err != nil && !made.MatchString(source) {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// TestServedAsSaid: the flags of the image and of the unit are those of serve, and the image is made
// by the Go that go.mod names.
func TestServedAsSaid(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program once more")
	}
	docker, unit := read(t, "Dockerfile"), read(t, "mulligan.service")
	if want := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "../go.mod"))[1]; !strings.Contains(docker, "FROM golang:"+want+"-") {
		t.Errorf("the image is not made by Go %s", want)
	}
	for _, want := range []string{"\nUSER 65532", "\nFROM scratch", "HEALTHCHECK", `-ldflags="-s -w"`} {
		if !strings.Contains(docker, want) {
			t.Errorf("the image has no %q", want)
		}
	}
	flag := regexp.MustCompile(`--[a-z-]+`)
	_, commands, _ := strings.Cut(docker, "HEALTHCHECK")
	used := flag.FindAllString(commands, -1)
	used = append(used, flag.FindAllString(regexp.MustCompile(`ExecStart=.*`).FindString(unit), -1)...)
	help, err := exec.CommandContext(t.Context(), "go", "run", "../cmd/mulligan", "man", "serve").Output()
	if err != nil {
		t.Fatal(err)
	}
	known := strings.ReplaceAll(string(help), `\-`, "-")
	for _, f := range used {
		if healthcheck := f == "--interval" || f == "--timeout" || f == "--start-period"; !healthcheck && !strings.Contains(known, f) {
			t.Errorf("serve has no %s", f)
		}
	}
	if len(used) < 6 {
		t.Errorf("flags %q", used)
	}
}

// TestBefore makes what a package has beside the program.
func TestBefore(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program once more")
	}
	if out, err := exec.CommandContext(t.Context(), "sh", "before").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for pattern, least := range map[string]int{"man/*.1.gz": 30, "completions/mulligan.*": 3} {
		files, err := filepath.Glob("../.cache/release/" + pattern)
		if err != nil || len(files) < least {
			t.Errorf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			if info, err := os.Stat(file); err != nil || info.Size() < 150 {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// TestIssueForms ask for what an answer needs.
func TestIssueForms(t *testing.T) {
	forms := os.DirFS("../.github/ISSUE_TEMPLATE")
	names, err := fs.Glob(forms, "[0-9]-*.yml")
	if err != nil || len(names) < 4 {
		t.Fatalf("forms %q, %v", names, err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(forms, name)
		if err != nil {
			t.Fatal(err)
		}
		var form struct {
			Name, Description string
			Body              []struct {
				Type, ID   string
				Attributes struct{ Label, Description, Placeholder, Render string }
			}
		}
		if err := yaml.Unmarshal(text, &form); err != nil || form.Name == "" || form.Description == "" || len(form.Body) == 0 {
			t.Errorf("%s: %+v, %v", name, form, err)
		}
		if !strings.Contains(string(text), "mulligan explain --json") {
			t.Errorf("%s does not ask for explain --json", name)
		}
	}
}
