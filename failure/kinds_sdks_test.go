package failure

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
	"unicode"
)

// kindFiles are the generated files of the SDKs and of their exam that list the kinds.
func kindFiles(t *testing.T) map[string]string {
	t.Helper()
	about := kindComments(t)
	return map[string]string{
		"python/src/mulligan/_kinds.py":  pythonKinds(),
		"typescript/client/src/kind.ts":  typescriptKinds(),
		"rust/src/kind.rs":               rustKinds(t, about),
		javaKindFile:                     javaKinds(t, about),
		"conformance/talks/1-kinds.json": kindTalks(),
	}
}

func pythonKinds() string {
	var names, facts strings.Builder
	for _, k := range Kinds() {
		fmt.Fprintf(&names, "    %q,\n", k)
		fmt.Fprintf(&facts, "    %q: (%q, %s),\n", k, k.Code(), map[bool]string{true: "True", false: "False"}[k.Retryable()])
	}
	return "# " + generatedLine + "\nfrom typing import Literal\n\nKind = Literal[\n    \"\",\n" + names.String() + "]\n" +
		`"""What went wrong. A newer host may send others, which a type checker does not expect: treat what you
do not know by ` + "``retryable``" + `."""

# The code of each kind, and whether the same input may succeed later.
FACTS: dict[str, tuple[str, bool]] = {
` + facts.String() + "}\n"
}

func typescriptKinds() string {
	return "// " + generatedLine + `

/**
 * What went wrong. A newer gateway may send a kind that is not among these:
 * ` + "`const kind: string = failure.kind`" + ` compares it with anything.
 */
export type Kind =` + typescriptUnion() + ";\n"
}

// typescriptUnion is the TypeScript type of all kinds.
func typescriptUnion() string {
	var union strings.Builder
	for _, k := range Kinds() {
		fmt.Fprintf(&union, "\n  | '%s'", k)
	}
	return union.String()
}

// kindMeaning is a kind's comment in kind.go, and whether trying again may help.
func kindMeaning(t *testing.T, about map[Kind]string, k Kind) string {
	t.Helper()
	if about[k] == "" {
		t.Fatalf("kind.go says nothing of %s: a comment beside it is what the SDKs say", k)
	}
	again := "Not retryable."
	switch {
	case k.Once():
		again = "Retryable once."
	case k.Retryable():
		again = "Retryable."
	}
	return sentenceCase(about[k]) + ". " + again
}

func rustKinds(t *testing.T, about map[Kind]string) string {
	t.Helper()
	var variants, facts strings.Builder
	for _, k := range Kinds() {
		fmt.Fprintf(&variants, "        /// %s\n        %s = %q,\n", kindMeaning(t, about, k), rustName(k), k)
		pattern := "Kind::" + rustName(k)
		if k == KindUnknown {
			pattern += " | Kind::NotSet | Kind::Other(_)"
		}
		fmt.Fprintf(&facts, "        %s => (%q, %t),\n", pattern, k.Code(), k.Retryable())
	}
	return "// " + generatedLine + `
//! The kinds of failure.

use crate::name::words;

words! {
    /// What went wrong. New kinds may appear: treat those you do not know by
    /// [` + "`Failure::retryable`" + `](crate::Failure::retryable), or have no opinion.
    ///
    /// ` + "```" + `
    /// use mulligan::Kind;
    ///
    /// assert_eq!(Kind::from("rate_limit"), Kind::RateLimit);
    /// assert_eq!(Kind::from("brand_new").to_string(), "brand_new");
    /// ` + "```" + `
    Kind {
` + variants.String() + `    }
}

/// The code that a host gives failures of this kind, and whether it says that the same
/// input may succeed later.
pub(crate) fn facts(kind: &Kind) -> (&'static str, bool) {
    match kind {
` + facts.String() + `    }
}
`
}

// rustName turns rate_limit into RateLimit.
func rustName(k Kind) string {
	var name strings.Builder
	for part := range strings.SplitSeq(string(k), "_") {
		name.WriteString(sentenceCase(part))
	}
	return name.String()
}

func sentenceCase(text string) string {
	return strings.ToUpper(text[:1]) + text[1:]
}

// kindComments are the comments beside the kinds in kind.go.
func kindComments(t *testing.T) map[Kind]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "kind.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	about := map[Kind]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && v.Comment != nil && len(v.Values) == 1 {
			if name, ok := v.Values[0].(*ast.BasicLit); ok {
				about[Kind(strings.Trim(name.Value, `"`))] = strings.TrimSpace(v.Comment.Text())
			}
		}
		return true
	})
	return about
}

// kindTalks are exam lines that ask every SDK's conformance plugin about each kind by its number on
// the wire.
func kindTalks() string {
	var talks []string
	for _, k := range Kinds() {
		name, _ := json.Marshal(k)
		talks = append(talks, fmt.Sprintf(`  {"name": %s, "event": {"failure": {"kind": "KIND_%s", "detail": "say kind"}}, "reply": {"action": "ACTION_FAIL", "reason": %s}}`,
			name, strings.Map(unicode.ToUpper, string(k)), name))
	}
	return "[\n" + strings.Join(talks, ",\n") + "\n]\n"
}
