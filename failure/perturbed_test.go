package failure

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// perturbation is a way in which programs pass an error on without changing its meaning. of returns
// a row's evidence after that, or false if the row cannot be passed on this way.
type perturbation struct {
	name string
	of   func(t *testing.T, row corpusRow) (Evidence, bool)
}

// around changes only the message; code and status stay.
func around(name string, change func(message string) string) perturbation {
	return perturbation{name, func(t *testing.T, row corpusRow) (Evidence, bool) {
		e := reported(t, "", row.code, change(row.message))
		e.Status = row.e.Status
		return e, true
	}}
}

// before puts words in front of the message, and after behind it.
func before(words string) perturbation {
	return around(words+"…", func(message string) string { return words + message })
}

func after(words string) perturbation {
	return around("…"+words, func(message string) string { return message + words })
}

// within puts the message into a document, as a string.
func within(document string) perturbation {
	return around(document, func(message string) string { return strings.ReplaceAll(document, "%", inJSON(message)) })
}

func inJSON(message string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(message); err != nil {
		panic(err)
	}
	return strings.Trim(strings.TrimSpace(b.String()), `"`)
}

// body puts a document with the message into the body of an answer.
func body(document string) perturbation {
	return perturbation{"body " + document, func(_ *testing.T, row corpusRow) (Evidence, bool) {
		return Evidence{Status: row.e.Status, Body: []byte(strings.ReplaceAll(document, "%", inJSON(row.message)))}, row.code == ""
	}}
}

// spokenAs moves the status into the message: %[1]d is the status, %[2]s its name, %[3]s the
// message.
func spokenAs(format string) perturbation {
	return perturbation{format, func(_ *testing.T, row corpusRow) (Evidence, bool) {
		if row.e.Status == 0 || row.code != "" || http.StatusText(row.e.Status) == "" {
			return Evidence{}, false
		}
		return Evidence{Err: errors.New(strings.TrimSpace(fmt.Sprintf(format, row.e.Status, http.StatusText(row.e.Status), row.message)))}, true
	}}
}

// coded moves the code into the message: %[1]s is the code, %[2]s the message.
func coded(format string) perturbation {
	return perturbation{format, func(_ *testing.T, row corpusRow) (Evidence, bool) {
		return Evidence{Status: row.e.Status, Err: fmt.Errorf(format, row.code, row.message)}, row.code != ""
	}}
}

// named puts the name of a library's error class before the messages of such errors.
func named(format string, names map[Kind]string) perturbation {
	return perturbation{format, func(_ *testing.T, row corpusRow) (Evidence, bool) {
		name := names[Kind(row.kinds[0])]
		return Evidence{Status: row.e.Status, Err: fmt.Errorf(format, name, row.message)}, name != "" && row.code == ""
	}}
}

var (
	grpcNames = map[Kind]string{KindRateLimit: "ResourceExhausted", KindAuth: "Unauthenticated", KindUnavailable: "Unavailable", KindTimeout: "DeadlineExceeded", KindModelNotFound: "NotFound", KindInvalidRequest: "InvalidArgument", KindContextOverflow: "InvalidArgument", KindOverloaded: "Unavailable"}
	awsNames  = map[Kind]string{KindRateLimit: "ThrottlingException", KindAuth: "AccessDeniedException", KindUnavailable: "ServiceUnavailableException", KindModelNotFound: "ResourceNotFoundException", KindInvalidRequest: "ValidationException", KindContextOverflow: "ValidationException"}
	sdkNames  = map[Kind]string{KindRateLimit: "RateLimitError", KindAuth: "AuthenticationError", KindUnavailable: "InternalServerError", KindModelNotFound: "NotFoundError", KindInvalidRequest: "BadRequestError", KindContextOverflow: "BadRequestError", KindContentFilter: "BadRequestError", KindBilling: "APIStatusError"}
)

var perturbations = []perturbation{
	before("Error: "), before("error: "), before("Error: Error: "), before("LLM request failed: "), before("LLM error: "), before("API Error: "), before("API call failed: "),
	before("OpenAI error: "), before("Anthropic API error: "), before("[openrouter] "), before("ollama error: "), before("google: "), before("[anthropic/claude-sonnet-4-5] "),
	before("litellm.APIError: APIError: OpenAIException - "), before("provider=openai model=gpt-5.2 "), before("Agent run failed: "), before("Failed after 3 attempts. Last error: "),
	before("AI_RetryError: Failed after 3 attempts. Last error: "), before("failed to run agent: step 3: chat completion: "), before("com.acme.llm.LlmClientException: "),
	before("java.util.concurrent.ExecutionException: com.acme.LlmException: "), before("Traceback (most recent call last):\n  File \"/app/run.py\", line 3, in run\n    main()\nRuntimeError: "),
	before("RuntimeError: "), before("LangChainError: "), before("Command failed with exit code 1: "), before("Process exited with code 1\n"), before("stderr: "), before("⚠️ "), before("❌ Error: "), before("**Error:** "),
	before("2026-03-01T12:00:00.000Z ERROR llm.client: "), before("[2026-03-01 12:00:00] [error] "), before("Turn failed, caused by: "), before("Error: turn failed\n  [cause]: Error: "),
	before("call failed\n\nCaused by:\n    0: "), before("Subagent error: "), before("Something went wrong: "), before("stream error: "), before("Unexpected error: "), before("\n\n"), before("  "),
	before("Compaction failed: "), before("Summarization failed: "), before("Model fallback exhausted. Last error: "), before("Task 7f3c failed: "), before("Got unexpected response from the API: "),

	after("."), after("!"), after("…"), after("\n"), after(" (request_id: req_011CSHoEeqs5C35K2UUqR7Fy)"), after("\nRequest ID: 3f2b9a3e-7d41-4a58-9f0e-5d0f6f1b2c3d"), after(" [request_id=req_123]"),
	after(". Retrying in 5 seconds (attempt 2/10)"), after(" (attempt 3 of 3)"), after("\n    at Client.send (/app/dist/client.js:10:15)\n    at async run (/app/dist/run.js:3:1)"), after(" (provider: openai, model: gpt-5.2)"),
	after(" | model=claude-opus-4-5"), after(" Please see https://docs.example.com/errors for details."), after(" If the problem persists, contact support."), after(" (elapsed 2.31s)"),

	around("capitals", strings.ToUpper).plain(), around("small letters", strings.ToLower).plain(), around("quoted", func(m string) string { return `"` + m + `"` }).plain(),
	around("backticks", func(m string) string { return "`" + m + "`" }), around("parentheses", func(m string) string { return "(" + m + ")" }),
	around("two spaces", func(m string) string { return strings.ReplaceAll(m, " ", "  ") }).plain(), around("no-break spaces", func(m string) string { return strings.ReplaceAll(m, " ", "\u00a0") }).plain(),
	around("curly quotes", func(m string) string { return strings.NewReplacer("'", "’", "`", "‘").Replace(m) }).plain(), around("wrapped lines", wrapped).plain(),
	around("coloured", func(m string) string { return "\x1b[31m" + m + "\x1b[0m" }), around("a box", func(m string) string { return "│ " + m + " │" }),
	around("markup", func(m string) string {
		return "<p>" + strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(m) + "</p>"
	}).plain(),

	within(`{"error":{"message":"%"}}`), within(`{"error":"%"}`), within(`{"message":"%"}`), within(`{"detail":"%"}`), within(`{"error":{"error":{"message":"%"}}}`), within(`{"errors":[{"message":"%"}]}`),
	within(`[{"error":{"message":"%"}}]`), within(`{"success":false,"error":"%","data":null}`), within(`{"type":"error","error":{"type":"error","message":"%"}}`), within(`event: error` + "\n" + `data: {"error":{"message":"%"}}`),
	within(`LLM request failed: {"error":{"message":"%"}}`), within(`ApiError { message: "%" }`), within(`Some(LlmError(ApiError { kind: Other, message: "%", source: None }))`), within(`Err("%")`),
	within(`{"cause":{"message":"%"}}`), within(`{"err":"%"}`), within(`{"reason":"%"}`).plain(), within(`{"errorMessage":"%"}`),
	around("JSON in a string", func(m string) string { return `{"error":"` + inJSON(`{"error":{"message":"`+inJSON(m)+`"}}`) + `"}` }),
	around("JSON in a string in a message", func(m string) string {
		return `{"error":{"message":"` + inJSON(`Provider returned error: {"error":{"message":"`+inJSON(m)+`"}}`) + `"}}`
	}),
	around("escaped JSON", func(m string) string { return `Error: ` + inJSON(`{"error":{"message":"`+inJSON(m)+`"}}`) }),
	around("Python", func(m string) string {
		return `{'error': {'message': '` + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(m) + `', 'param': None}}`
	}),
	around("Python's bytes", func(m string) string { return `b'{"error":{"message":"` + inJSON(m) + `"}}'` }),

	body(`{"error":{"message":"%"}}`), body(`{"error":"%"}`), body(`{"message":"%"}`), body(`{"detail":"%"}`), body(`{"error":{"message":"%","type":null,"param":null,"code":null}}`), body(`"%"`),
	body(`{"error":{"error":{"message":"%"}}}`), body(`[{"error":{"message":"%"}}]`), body("event: error\ndata: {\"error\":{\"message\":\"%\"}}\n\n"), body(`{"msg":"%"}`), body(`{"error":{"msg":"%"}}`),

	spokenAs("%[1]d %[3]s"), spokenAs("HTTP %[1]d: %[3]s"), spokenAs("Error code: %[1]d - %[3]s"), spokenAs("API error (%[1]d): %[3]s"), spokenAs("OpenAI API error %[1]d %[2]s: %[3]s"), spokenAs("%[3]s (status code: %[1]d)"),
	spokenAs("%[3]s (HTTP %[1]d)"), spokenAs("Request failed with status code %[1]d: %[3]s"), spokenAs("status=%[1]d message=%[3]s"), spokenAs("[%[1]d] %[3]s"), spokenAs("%[1]d %[2]s: %[3]s"), spokenAs("Error: %[1]d %[3]s"), spokenAs("unexpected status %[1]d %[2]s: %[3]s"),
	spokenAs("ApiError: {\"statusCode\":%[1]d} %[3]s"), spokenAs("error, status code: %[1]d, message: %[3]s"), spokenAs("POST \"https://api.example.com/v1/messages\": %[1]d %[2]s %[3]s"),

	coded("[%[1]s] %[2]s"), coded("%[1]s: %[2]s"), coded("%[2]s (code: %[1]s)"), coded("%[2]s [code=%[1]s]"), coded("Error: %[2]s (%[1]s)"),

	named("rpc error: code = %s desc = %s", grpcNames), named("An error occurred (%s) when calling the InvokeModel operation: %s", awsNames), named("openai.%s: %s", sdkNames), named("litellm.%[1]s: %[1]s: OpenAIException - %[2]s", sdkNames),
	named("%s: %s", sdkNames),
}

// wrapped breaks the lines of a message as a narrow terminal does.
func wrapped(message string) string {
	var b strings.Builder
	width := 0
	for i, word := range strings.Split(message, " ") {
		switch width += len(word); {
		case i == 0:
		case width > 40:
			b.WriteString("\n")
			width = len(word)
		default:
			b.WriteString(" ")
		}
		b.WriteString(word)
	}
	return b.String()
}

// plain skips messages that are documents, since changing quotes and letters would change a
// document's meaning.
func (p perturbation) plain() perturbation {
	of := p.of
	p.of = func(t *testing.T, row corpusRow) (Evidence, bool) {
		if strings.ContainsAny(row.message, `{"<`) || joinedWords.MatchString(row.message) {
			return Evidence{}, false
		}
		return of(t, row)
	}
	return p
}

// joinedWords matches identifiers whose words are separated only by capitals.
var joinedWords = regexp.MustCompile(`[a-z][A-Z]`)

// perturbed are the corpora whose rows are passed on in each way: mostly English, of agents,
// gateways and SDKs.
var perturbed = []string{"given", "yours", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"}

// rightRows are the rows of these corpora that are classified rightly and not as unknown.
func rightRows(t *testing.T) (rows []corpusRow) {
	for _, c := range corpora {
		if !slices.Contains(perturbed, c.name) {
			continue
		}
		for _, row := range c.rows(t) {
			if row.kinds[0] != string(KindUnknown) && slices.Contains(row.kinds, string(Classify(row.e).Kind)) {
				row.message = cell(row.message)
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// TestPerturbed passes on, in each way, every message that is classified rightly by itself, and
// writes the results to testdata/perturbed.md, so that new mistakes there are noticed.
func TestPerturbed(t *testing.T) {
	if testing.Short() {
		t.Skip("it classifies 170,000 messages")
	}
	var b strings.Builder
	b.WriteString("| passed on as | messages | wrong | dangerous |\n|---|---|---|---|\n")
	rows := rightRows(t)
	var all score
	for _, p := range perturbations {
		var s score
		for _, row := range rows {
			e, ok := p.of(t, row)
			if !ok {
				continue
			}
			f := Classify(e)
			if s.rows++; slices.Contains(row.kinds, string(f.Kind)) {
				s.right++
				continue
			}
			if !slices.ContainsFunc(row.kinds, func(kind string) bool { return !isDangerous(Kind(kind), f) }) {
				s.dangerous++
			}
			t.Logf("%s: %d %s, want %s: %.200q", p.name, e.Status, f.Kind, row.kinds, row.message)
		}
		all.rows, all.right, all.dangerous = all.rows+s.rows, all.right+s.right, all.dangerous+s.dangerous
		name := strings.NewReplacer("|", "\\|", "`", "'", "\n", "⏎").Replace(p.name)
		fmt.Fprintf(&b, "| `%s` | %d | %d | %d |\n", name, s.rows, s.rows-s.right, s.dangerous)
	}
	fmt.Fprintf(&b, "| **all** | %d | %d | %d |\n", all.rows, all.rows-all.right, all.dangerous)
	golden(t, filepath.Join("testdata", "perturbed.md"), b.String())
}
