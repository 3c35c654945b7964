package plugins

import (
	"context"
	"os"
	"path/filepath"
	"slices"
)

const javaSDK, javaExample = "sdk/java", "plugins/examples/java-business-hours"

// The protocol's files are sources too: the messages are generated from them.
var javaSources = []string{javaSDK, javaExample, "proto"}

// What the JVM itself has to say goes to standard error, and the rest makes a short start.
var javaFlags = []string{
	"-XX:+DisplayVMOutputToStderr", "-Xlog:disable", "-Xlog:all=warning:stderr",
	"-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData",
}

func makeJava(ctx context.Context, p Place) (Made, error) {
	args, err := p.JavaProgram(ctx, filepath.Join(javaSDK, "target/test-classes"), "run.mulligan.conformance.Main")
	return Made{Args: args}, err
}

// JavaProgram starts a class with the SDK beside it. classes has it: a folder of its own, or one of what
// is built with the SDK.
func (p Place) JavaProgram(ctx context.Context, classes, main string) ([]string, error) {
	built, err := p.java(ctx)
	if !filepath.IsAbs(classes) {
		classes = filepath.Join(built, classes)
	}
	return slices.Concat([]string{"java"}, javaFlags, []string{"-cp", classes + ":" + javaClasses(built), main}), err
}

// JavaClasses compiles a source against the SDK, away from the sources, and gives the folder with its classes.
func (p Place) JavaClasses(ctx context.Context, source string) (string, error) {
	built, err := p.java(ctx)
	if err != nil {
		return "", err
	}
	return p.Once(ctx, p.Path(".cache/java-classes"), append([]string{source}, javaSources...), func(dir string) error {
		return p.Run(ctx, "javac", "-d", dir, "-cp", javaClasses(built), p.Path(source))
	})
}

// javaClasses are the SDK's, and what it is made with.
func javaClasses(built string) string {
	target := filepath.Join(built, javaSDK, "target")
	return filepath.Join(target, "classes") + ":" + filepath.Join(target, "lib/*")
}

// java is a folder with the SDK and the example that is made with it at their paths, both built and tested
// by one run of Maven, away from the sources and once for each version of them.
func (p Place) java(ctx context.Context) (string, error) {
	return p.Once(ctx, p.Path(".cache/java"), javaSources, func(dir string) error {
		for _, source := range []string{javaSDK, javaExample} {
			path := filepath.Join(dir, source)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.Rename(filepath.Join(dir, filepath.Base(source)), path); err != nil {
				return err
			}
			if err := os.RemoveAll(filepath.Join(path, "target")); err != nil { // of somebody's own build
				return err
			}
		}
		maven := []string{"mvn", "--quiet", "--batch-mode", "-T1", "-Pconformance", "--file", filepath.Join(dir, javaExample, "reactor.xml"), "package"}
		if p.Run(ctx, append(maven, "--offline")...) == nil { // all that it needs has been fetched before
			return nil
		}
		return p.Run(ctx, maven...)
	})
}

// JavaExample is the program of the example.
func (p Place) JavaExample(ctx context.Context) (string, error) {
	built, err := p.java(ctx)
	return filepath.Join(built, javaExample, "target/java-business-hours/java-business-hours"), err
}
