package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	protoBlock = regexp.MustCompile(`^(message|enum|service) (\w+) \{`)
	protoField = regexp.MustCompile(`^  (?:(repeated|optional) )?(map<[^>]+>|[\w.]+) (\w+) = (\d+)`)
	protoValue = regexp.MustCompile(`^  (\w+) = (\d+)`)
	protoRPC   = regexp.MustCompile(`^  rpc (\w+)\((stream )?(\w+)\) returns \((stream )?(\w+)\)`)
)

// protocolPage has every service, message and enumeration of the plugin protocol.
func protocolPage(top string) (string, error) {
	files, err := filepath.Glob(filepath.Join(top, "proto", "mulligan", "v1", "*.proto"))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# Messages of the plugin protocol\n\nThe services and messages of `proto/mulligan/v1`, as the files there explain them. Made from them: do not edit it here. " +
		"[The plugin protocol](plugin-protocol.md) says how they are used.\n")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		describe(&b, string(text))
	}
	return b.String(), nil
}

// describe writes what one file declares. A comment stands above what it is about.
func describe(b *strings.Builder, file string) {
	var said []string
	in := ""
	for line := range strings.Lines(file) {
		line = strings.TrimRight(line, "\n")
		if comment, ok := strings.CutPrefix(strings.TrimSpace(line), "//"); ok {
			if comment = strings.TrimSpace(comment); !strings.HasPrefix(comment, "buf:") {
				said = append(said, comment)
			}
			continue
		}
		doc := strings.TrimSpace(strings.Join(said, " "))
		if block := protoBlock.FindStringSubmatch(line); block != nil {
			in = block[1]
			b.WriteString("\n## " + block[2] + "\n\n" + doc + "\n")
			if !strings.HasSuffix(line, "}") {
				b.WriteString("\n" + map[string]string{"message": "| field | | |", "enum": "| value | | |", "service": "| method | | |"}[in] + "\n|---|---|---|\n")
			}
		} else if row := protoRow(in, line); row != "" {
			b.WriteString("| " + row + " | " + cell(doc) + " |\n")
		}
		said = nil
	}
}

// protoRow is a declaration as the first two columns of a table; "" for any other line.
func protoRow(in, line string) string {
	if f := protoField.FindStringSubmatch(line); f != nil && in == "message" {
		return "`" + f[3] + "` = " + f[4] + " | `" + strings.TrimSpace(f[1]+" "+f[2]) + "`"
	}
	if v := protoValue.FindStringSubmatch(line); v != nil && in == "enum" {
		return "`" + v[1] + "` | " + v[2]
	}
	if m := protoRPC.FindStringSubmatch(line); m != nil && in == "service" {
		return "`" + m[1] + "` | `" + m[2] + m[3] + "` → `" + m[4] + m[5] + "`"
	}
	return ""
}
