package conformance

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/internal/needs"
)

// kotlin is the version that the page of the Java SDK names, with what compiles it.
const kotlin = `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>test</groupId>
  <artifactId>kotlin</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.jetbrains.kotlin</groupId>
      <artifactId>kotlin-compiler-embeddable</artifactId>
      <version>VERSION</version>
    </dependency>
  </dependencies>
</project>
`

// TestKotlin compiles the plugin that the page of the Java SDK shows, and has it answer as it says.
func TestKotlin(t *testing.T) {
	if testing.Short() {
		t.Skip("fetches a compiler")
	}
	needs.Programs(t, "a plugin in Kotlin", "java", "mvn")
	page, err := os.ReadFile(top + "sdk/java/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "it was tried with Kotlin ")
	version, after, _ := strings.Cut(after, ":\n\n```kotlin\n")
	program, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("the page shows nothing in Kotlin")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"pom.xml": strings.Replace(kotlin, "VERSION", version, 1), "MyRules.kt": program} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	step := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	step("mvn", "--quiet", "--batch-mode", "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies", "-DoutputDirectory=compiler")
	stdlib := filepath.Join(dir, "compiler", "kotlin-stdlib-"+version+".jar")
	classes := filepath.Join(dir, "classes") + ":" + stdlib
	started, err := place(t, dir).JavaProgram(t.Context(), classes, "MyRulesKt")
	if err != nil {
		t.Fatal(err)
	}
	step("java", "-cp", "compiler/*", "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-stdlib", "-no-reflect", "-jvm-target", "17",
		"-cp", started[slices.Index(started, "-cp")+1], "-d", "classes", "MyRules.kt")
	wanted := func(topic, name string) bool { return topic == TopicProcess || name == "rate_limit" || name == "auth" }
	results, _ := examine(t, Exam{Command: Command{Args: started}, Wanted: wanted})
	for key, r := range results {
		if r.Err != nil {
			t.Errorf("%s: %v", key, r.Err)
		}
	}
	for key, want := range map[string]string{"failures/rate_limit": "retry", "failures/auth": ""} {
		if answers := results[key].Answers; len(answers) == 0 || string(answers[0].Vote.Action) != want {
			t.Errorf("%s: %+v, want %q first", key, answers, want)
		}
	}
}
