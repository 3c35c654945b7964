package faultlab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	maxOrder      = 1 << 20  // bytes that may be posted
	maxClipped    = 16 << 10 // bytes of a request's body in a list
	usualLimit    = 100      // requests in a list
	maxChaosNames = 256      // names in an order for chaos
)

// serveControl serves everything that is not a wire: the page, and the endpoints behind it.
//
//	GET  /                            the page
//	GET  /faultlab/requests           what was asked, in order: the last 100; ?limit=N for
//	                                  more, ?after=N for what came after number N; long
//	                                  bodies are clipped
//	GET  /faultlab/requests/{number}  one of them, whole
//	GET  /faultlab/rows               the fault catalogue
//	GET  /faultlab/state              scripts, chaos and requests as the page shows them;
//	                                  ?since=V for the requests that changed after a version
//	POST /faultlab/script             {"model":"…","script":"…"}: replace a model's script
//	POST /faultlab/chaos              {"rate":0.3,"seed":7,…}: the fields of [Chaos]
func (l *Lab) serveControl(w http.ResponseWriter, r *http.Request) {
	if why := foreign(r); why != "" {
		writeProblem(w, http.StatusForbidden, why)
		return
	}
	type endpoint struct {
		method string
		serve  func(http.ResponseWriter, *http.Request)
	}
	e, known := map[string]endpoint{
		"/":                  {http.MethodGet, servePage},
		"/faultlab/page.css": {http.MethodGet, servePage},
		"/faultlab/page.js":  {http.MethodGet, servePage},
		"/faultlab/icon.svg": {http.MethodGet, servePage},
		"/faultlab/requests": {http.MethodGet, l.serveRequests},
		"/faultlab/rows":     {http.MethodGet, serveRows},
		"/faultlab/state":    {http.MethodGet, l.serveState},
		"/faultlab/script":   {http.MethodPost, l.serveScript},
		"/faultlab/chaos":    {http.MethodPost, l.serveChaos},
	}[r.URL.Path]
	if strings.HasPrefix(r.URL.Path, "/faultlab/requests/") {
		e, known = endpoint{http.MethodGet, l.serveRequest}, true
	}
	switch {
	case !known:
		writeProblem(w, http.StatusNotFound, "no such route: "+r.URL.Path)
	case r.Method != e.method && (r.Method != http.MethodHead || e.method != http.MethodGet):
		w.Header().Set("Allow", e.method)
		writeProblem(w, http.StatusMethodNotAllowed, "use "+e.method)
	default:
		e.serve(w, r)
	}
}

// serveScript replaces a model's script; an empty one removes it.
func (l *Lab) serveScript(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model  string `json:"model"`
		Script string `json:"script"`
	}
	if !readOrder(w, r, &in) {
		return
	}
	steps, err := Parse(in.Script)
	if err == nil {
		err = l.trySet(in.Model, steps)
	}
	if err != nil {
		writeProblem(w, http.StatusBadRequest, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"steps": stepNames(steps)})
}

func stepNames(steps []Step) []string {
	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = s.Name()
	}
	return names
}

// serveChaos sets how often the lab fails; a zero rate without every ends it.
func (l *Lab) serveChaos(w http.ResponseWriter, r *http.Request) {
	var in chaosJSON
	if !readOrder(w, r, &in) {
		return
	}
	err := fmt.Errorf("chaos: more than %d rows or models", maxChaosNames)
	if len(in.Rows) <= maxChaosNames && len(in.Models) <= maxChaosNames {
		err = l.Chaos(Chaos(in))
	}
	if err != nil {
		writeProblem(w, http.StatusBadRequest, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, in)
}

// chaosJSON is Chaos as it is sent.
type chaosJSON struct {
	Seed   uint64   `json:"seed"`
	Rate   float64  `json:"rate"`
	Every  int      `json:"every"`
	Rows   []string `json:"rows"`
	Models []string `json:"models"`
}

// readOrder reads a posted order, or answers that it is wrong. The content type must be
// application/json, which a web page cannot send here without asking first.
func readOrder(w http.ResponseWriter, r *http.Request, into any) bool {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		writeProblem(w, http.StatusUnsupportedMediaType, "content type must be application/json")
		return false
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxOrder))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if err == nil && decoder.Decode(&struct{}{}) != io.EOF {
		err = errors.New("something follows the JSON object")
	}
	if err != nil {
		writeProblem(w, http.StatusBadRequest, err.Error())
		return false
	}
	return true
}

// served is a Request as it is shown.
type served struct {
	Number    int         `json:"number"`
	Wire      string      `json:"wire"`
	Model     string      `json:"model"`
	Method    string      `json:"method"`
	Path      string      `json:"path"`
	Header    http.Header `json:"header,omitempty"`
	Body      string      `json:"body,omitempty"`
	BodyBytes int         `json:"bodyBytes"` // of the whole body
	Step      string      `json:"step"`
	Refused   string      `json:"refused,omitempty"`
	Status    int         `json:"status"` // 0 = none was sent, yet or at all
	At        time.Time   `json:"at"`
	Ended     time.Time   `json:"ended,omitzero"`
}

// show shows a request with at most that many bytes of its body.
func (r Request) show(body int) served {
	s := served{
		Number: r.Number, Wire: r.Wire, Model: r.Model, Method: r.Method, Path: r.Path, Header: r.Header,
		BodyBytes: len(r.Body), Step: r.Step, Refused: r.Refused, Status: r.Status, At: r.At, Ended: r.Ended,
	}
	for body = min(body, len(r.Body)); body > 0 && body < len(r.Body) && !utf8.RuneStart(r.Body[body]); {
		body--
	}
	s.Body = string(r.Body[:body])
	return s
}

func (l *Lab) serveRequests(w http.ResponseWriter, r *http.Request) {
	limit, err := numberOf(r, "limit", usualLimit)
	after, afterErr := numberOf(r, "after", 0)
	if err != nil || afterErr != nil || limit == 0 {
		writeProblem(w, http.StatusBadRequest, "limit and after are numbers, and the limit is not 0")
		return
	}
	list := []served{}
	kept := l.Requests()
	for len(kept) > 0 && uint64(kept[0].Number) <= after { //nolint:gosec // a number is positive
		kept = kept[1:]
	}
	if most := int(min(limit, maxKept)); after > 0 { //nolint:gosec // maxKept is small
		kept = kept[:min(len(kept), most)]
	} else {
		kept = kept[max(0, len(kept)-most):]
	}
	for _, q := range kept {
		list = append(list, q.show(maxClipped))
	}
	writeJSON(w, http.StatusOK, list)
}

func (l *Lab) serveRequest(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/faultlab/requests/"))
	l.mu.Lock()
	found := l.memory.find(number)
	if err != nil || found == nil {
		l.mu.Unlock()
		writeProblem(w, http.StatusNotFound, "no such request, or not any more")
		return
	}
	q := *found
	l.mu.Unlock()
	writeJSON(w, http.StatusOK, q.show(maxBody))
}

// numberOf reads a number from the query.
func numberOf(r *http.Request, name string, usual uint64) (uint64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return usual, nil
	}
	return strconv.ParseUint(text, 10, 63)
}

func writeProblem(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]string{"message": message}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(encode(v), '\n'))
}

// encode is json.Marshal for our own values, for which it cannot fail.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("faultlab: " + err.Error())
	}
	return b
}
