package faultlab

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"time"
)

// serveScript is POST /faultlab/script {"model":"…","script":"…"}: replace a
// model's script. An empty script takes it away. The content type must be
// application/json, which a web page cannot send here without being asked first.
func (l *Lab) serveScript(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		writeProblem(w, http.StatusMethodNotAllowed, "use POST")
		return
	}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		writeProblem(w, http.StatusUnsupportedMediaType, "content type must be application/json")
		return
	}
	names, err := l.load(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		writeProblem(w, http.StatusBadRequest, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"steps": names})
}

func (l *Lab) load(body io.Reader) ([]string, error) {
	var in struct {
		Model  string `json:"model"`
		Script string `json:"script"`
	}
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return nil, err
	}
	steps, err := Parse(in.Script)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = s.Name()
	}
	return names, l.trySet(in.Model, steps)
}

// served is a Request as GET /faultlab/requests shows it.
type served struct {
	Wire    string      `json:"wire"`
	Model   string      `json:"model"`
	Method  string      `json:"method"`
	Path    string      `json:"path"`
	Header  http.Header `json:"header"`
	Body    string      `json:"body"`
	Step    string      `json:"step"`
	Refused string      `json:"refused,omitempty"`
	At      time.Time   `json:"at"`
}

func (l *Lab) serveRequests(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		writeProblem(w, http.StatusMethodNotAllowed, "use GET")
		return
	}
	list := []served{}
	for _, q := range l.Requests() {
		list = append(list, served{q.Wire, q.Model, q.Method, q.Path, q.Header, string(q.Body), q.Step, q.Refused, q.At})
	}
	writeJSON(w, http.StatusOK, list)
}

func writeProblem(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]string{"message": message}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(encode(v), '\n'))
}

// encode is json.Marshal for values of our own making, which cannot fail.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("faultlab: " + err.Error())
	}
	return b
}
