package recovery

import (
	"fmt"
	"strings"
	"testing"
)

func TestLabels(t *testing.T) {
	many := Labels{}
	for i := range maxLabels {
		many[fmt.Sprint("k", i)] = strings.Repeat("ä", maxLabelValue)
	}
	good := map[string]Labels{
		"none": nil, "many": many, "no value": {"beta": ""},
		"longest": {strings.Repeat("k", maxLabelKey): "x"}, "letters": {"app.kubernetes.io/part-of_1": "a b=c"},
	}
	for name, l := range good {
		if err := l.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, l := range map[string]Labels{
		"no key": {"": "x"}, "capital": {"Tenant": "x"}, "space": {"a b": "x"}, "sign first": {".a": "x"}, "equals": {"a=b": "x"}, "umlaut": {"ä": "x"},
		"long key": {strings.Repeat("k", maxLabelKey+1): "x"}, "long value": {"a": strings.Repeat("x", maxLabelValue+1)},
		"invalid UTF-8": {"a": "\xff"}, "newline": {"a": "x\ny"}, "escape": {"a": "\x1b[31m"}, "C1": {"a": "\u0085"},
	} {
		if l.Check() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	many["one-more"] = ""
	if err := many.Check(); err == nil || !strings.Contains(err.Error(), "at most 16") {
		t.Errorf("one more: %v", err)
	}
}

func TestLabelsHave(t *testing.T) {
	l := Labels{"a": "1", "b": ""}
	for _, some := range []Labels{nil, {"a": "1"}, {"b": ""}, {"a": "1", "b": ""}} {
		if !l.Has(some) {
			t.Errorf("it has not %v", some)
		}
	}
	for _, some := range []Labels{{"a": ""}, {"a": "2"}, {"c": ""}, {"a": "1", "c": "1"}} {
		if l.Has(some) {
			t.Errorf("it has %v", some)
		}
	}
}

// TestLabelsOfCalls: any name of a conversation makes a valid label, and different names make
// different labels.
func TestLabelsOfCalls(t *testing.T) {
	seen := map[string]bool{}
	for _, session := range []string{"agent-7", "a\x00b", "a\x00c", strings.Repeat("ä", 300), "\xff"} {
		l := CallLabels(KindProxied, session)
		if err := l.Check(); err != nil || l[labelKind] != KindProxied || l[labelSession] == "" || seen[l[labelSession]] {
			t.Errorf("%q: %v, %v", session, l, err)
		}
		seen[l[labelSession]] = true
	}
	if l := CallLabels(KindAdvised, ""); len(l) != 1 || !seen["agent-7"] {
		t.Errorf("%v", l)
	}
}
