package clients

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/anthropic"
	"github.com/mulligan-run/mulligan/wire/openai"
	"github.com/mulligan-run/mulligan/wire/responses"
)

const (
	prompt  = "What should I wear in Oslo today? Look at the weather first."
	answer  = faultlab.DemoAnswer // the answer that rows of the lab say, too
	healthy = "healthy"           // the model that never fails
	titled  = "Weather in Oslo"   // the reply to calls that programs make beside the conversation
)

// scriptedProvider is the provider that a client talks with: it asks for a tool, and answers once it has the
// tool's result. A fault may come before each of the two. A model that is to continue a partial
// answer says the rest of it.
type scriptedProvider struct {
	lab    *faultlab.Lab
	server *httptest.Server
	fault  fault
	plain  bool   // the client has no tools, so it is answered at once
	tool   string // the command that a shell tool is to run

	mu       sync.Mutex
	first    sync.Once
	begun    chan struct{} // closed when the client asks for the first time
	played   map[bool]int  // how often the fault came, before and after the tool
	asked    int           // calls of the conversation
	refused  []string      // by the lab, which is strict
	received []string      // unknown paths
}

func newScriptedProvider(f fault, plain bool, tool string) *scriptedProvider {
	s := &scriptedProvider{lab: faultlab.New(), fault: f, plain: plain, tool: tool, played: map[bool]int{}, begun: make(chan struct{})}
	s.server = httptest.NewServer(s)
	return s
}

func (s *scriptedProvider) close() {
	_ = s.lab.Close()
	s.server.Close()
	for _, q := range s.lab.Requests() {
		if q.Refused != "" {
			s.refused = append(s.refused, q.Refused)
		}
	}
}

// decoders read requests, by the paths of their wires.
var decoders = map[string]func([]byte) (wire.Asked, error){
	"/v1/messages": anthropic.Decode, "/v1/chat/completions": openai.Decode, "/v1/responses": responses.Decode,
}

// ServeHTTP passes requests of the conversation to the lab.
func (s *scriptedProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.first.Do(func() { close(s.begun) })
	if r.URL.Path == "/messages" { // its base URL has no /v1
		r.URL.Path = "/v1/messages"
	}
	decode := decoders[r.URL.Path]
	if decode == nil {
		s.mu.Lock()
		s.received = append(s.received, r.Method+" "+r.URL.Path)
		s.mu.Unlock()
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	asked, err := decode(body)
	step, half, aside := faultlab.Answer(titled), false, true
	if err == nil {
		step, half, aside = s.next(asked)
	}
	if half {
		w = &halved{w}
	}
	if aside {
		body = rename(body, "aside")
		asked.Model = "aside"
	}
	s.lab.Script(asked.Model, step) // calls of a conversation come one after another
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	s.lab.ServeHTTP(w, r)
}

// next is the reply to a call. half: only half of its tool call is sent; aside: the call is not
// part of the conversation.
func (s *scriptedProvider) next(asked wire.Asked) (step faultlab.Step, half, aside bool) {
	tool, ok := s.call(asked.Request.Tools)
	if !ok && !s.plain {
		return faultlab.Answer(titled), false, true
	}
	after := s.plain || slices.ContainsFunc(asked.Request.Messages, func(m llm.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p llm.Part) bool { return p.Result != nil })
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if asked.Model != healthy && s.fault.comes(after, s.played[after]) {
		s.played[after]++
		if s.fault.script != "" {
			return s.fault.step, false, false
		}
		half = true
	}
	step = tool
	if after {
		step = faultlab.Answer(rest(asked.Request.Messages))
	}
	if asked.Request.ReasoningEffort != "" && asked.Model != healthy { // a client that asks for reasoning has to send it back
		step = faultlab.Thinking("Let me see.", step)
	}
	return step, half, false
}

// call is the step that calls one of the client's tools, if the client offers one that is known
// here.
func (s *scriptedProvider) call(tools []llm.Tool) (faultlab.Step, bool) {
	args := map[string]any{
		"get_weather":   map[string]any{"city": "Oslo"},
		"Bash":          map[string]any{"command": s.tool, "description": "Look at the weather"},
		"bash":          map[string]any{"command": s.tool, "description": "Look at the weather"},
		"exec_command":  map[string]any{"cmd": s.tool},
		"shell_command": map[string]any{"command": s.tool},
		"shell":         map[string]any{"command": []string{"sh", "-c", s.tool}},
	}
	for _, t := range tools {
		if a, ok := args[t.Name]; ok {
			return faultlab.ToolCall(t.Name, string(encode(a))), true
		}
	}
	return faultlab.Step{}, false
}

// rest is the answer or, if the request already contains a part of it, what follows that part.
func rest(messages []llm.Message) string {
	for _, m := range slices.Backward(messages) {
		if m.Role == llm.RoleTool {
			break
		}
		said := m.Text()
		if m.Role == llm.RoleAssistant && said != "" && len(m.Calls()) == 0 {
			if more, ok := strings.CutPrefix(answer, said); ok {
				return more
			}
		}
	}
	return answer
}

// rename replaces the model's name in a request.
func rename(body []byte, model string) []byte {
	members := map[string]json.RawMessage{}
	if json.Unmarshal(body, &members) != nil {
		return body
	}
	members["model"] = encode(model)
	return encode(members)
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // the values are our own
	}
	return text
}

// halved breaks off in the middle of a tool's arguments.
type halved struct{ http.ResponseWriter }

func (h *halved) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// inArguments finds a place within a tool's arguments, on each wire.
var inArguments = regexp.MustCompile(`("partial_json":"\{|"delta":"\{|"arguments":"\{)..`)

func (h *halved) Write(p []byte) (int, error) {
	if at := inArguments.FindIndex(p); at != nil {
		_, _ = h.ResponseWriter.Write(p[:at[1]])
		_ = http.NewResponseController(h.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return h.ResponseWriter.Write(p)
}
