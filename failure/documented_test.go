package failure

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// documentedDiffer are the documented errors that intentionally get another kind than the file's,
// with the reason. None of them is a dangerous mistake.
var documentedDiffer = map[string]string{
	`{"error":{"code":"1120","message":"无法成功访问您的账户，请稍后重试"}}`:                                                                                                                                  "a 429 that passes; it is waited for, which is right as well",
	`{"code":"ModelServingError","message":"Too many requests. Your requests are being throttled due to system capacity limits.","request_id":"x"}`:                                           "the code says that serving failed; all three are tried again",
	`{"error_code":15,"error_msg":"app not exsits or create failed","id":"as-1"}`:                                                                                                             "a number of one provider, and words with a slip in them",
	`{"base_resp":{"status_code":1039,"status_msg":"token limit"}}`:                                                                                                                           "two words that may mean a minute's tokens or a model's",
	`{"id":"gen-1","object":"chat.completion.chunk","error":{"code":"not_found","message":"Provider returned error"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`: "it does not say what is missing",
	`E4875: Webhook URL is empty`: "an address that is not set is a setting",
}

// TestDocumented checks the codes and types that providers and gateways document, with the status
// of each, against the kinds that their documents describe. If a document has only a code, the
// message is a placeholder. At first sight, before the rules had learned from them, 666 of the 712
// were right, and 18 of the mistakes dangerous.
func TestDocumented(t *testing.T) {
	data, err := os.ReadFile("testdata/documented.tsv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	differ := 0
	for i, line := range lines[1:] {
		cells := strings.Split(line, "\t")
		if len(cells) != 5 {
			t.Fatalf("documented.tsv:%d has %d columns", i+2, len(cells))
		}
		e := Evidence{Body: []byte(cells[2])}
		if cells[1] != "" {
			if e.Status, err = strconv.Atoi(cells[1]); err != nil {
				t.Fatal(err)
			}
		}
		d, kinds := Diagnose(e), strings.Fields(cells[3])
		right := slices.Contains(kinds, string(d.Failure.Kind))
		if !right && !slices.ContainsFunc(kinds, func(kind string) bool { return !isDangerous(Kind(kind), d.Failure) }) {
			t.Errorf("DANGEROUS documented.tsv:%d: %s, want %s: %s", i+2, d.Failure.Kind, kinds, cells[2])
		}
		why, known := documentedDiffer[cells[2]]
		switch {
		case !right && !known:
			t.Errorf("documented.tsv:%d: %s (%s %s): %s, want %s, by %+v: %s", i+2, cells[0], cells[1], cells[4], d.Failure.Kind, kinds, d.Evidence[0], cells[2])
		case right && known:
			t.Errorf("documented.tsv:%d is right; it is still listed as different: %s", i+2, why)
		case known:
			differ++
		}
	}
	if differ != len(documentedDiffer) {
		t.Errorf("%d of %d differences found", differ, len(documentedDiffer))
	}
	t.Logf("%d of %d right", len(lines)-1-differ, len(lines)-1)
}
