package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// forwarding is a request that is not a model call. It goes to the provider of its route
// unchanged, and only once.
type forwarding struct {
	dialect *dialect
	model   string // the model that it names, "" for none
	body    []byte // the part of the body that was read; nil = nothing
	whole   bool   // that part is the whole body
	rest    io.Reader
}

// methods are those that the providers' APIs use.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// forward forwards a request that is not a model call.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request, d *dialect) {
	if !slices.Contains(methods, r.Method) {
		w.Header().Set("Allow", strings.Join(methods, ", "))
		p.refuse(w, d, http.StatusMethodNotAllowed, "The providers' APIs have no such method.")
		return
	}
	f := &forwarding{dialect: d, rest: r.Body}
	if err := f.read(r); err != nil {
		why := "The request ended before its body was complete."
		if wrong := (*wire.RequestError)(nil); errors.As(err, &wrong) {
			why = wrong.Error()
		}
		p.refuse(w, d, http.StatusBadRequest, why)
		return
	}
	to, status, why := p.upstream(f, r)
	if status != 0 {
		p.refuse(w, d, status, why)
		return
	}
	out, err := f.out(r, to.model)
	if err != nil {
		p.refuse(w, d, http.StatusBadRequest, err.Error())
		return
	}
	p.exchange(w, out, d, to)
}

// read finds the model that the request names: in the path, else in a JSON body.
func (f *forwarding) read(r *http.Request) error {
	_, f.model, _ = modelIn(r.URL.Path)
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.ContentLength == 0 || r.Header.Get("Content-Encoding") != "" || kind != "application/json" {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return err
	}
	f.body, f.whole = body, len(body) <= maxBody
	if !f.whole || f.model != "" {
		return nil
	}
	f.model, err = wire.ModelIn(body)
	if f.dialect == generate {
		f.model = strings.TrimPrefix(f.model, "models/")
	}
	return err
}

// upstream is where a request is forwarded.
type upstream struct {
	entry, model string          // model is the entry's name for the model, "" for none
	own          *llm.Credential // the caller's credential
}

// upstream finds the provider to forward to; a status says that there is none, and
// why.
func (p *Proxy) upstream(f *forwarding, r *http.Request) (to upstream, status int, why string) {
	speaks := func(full string) bool { return p.cfg.sameAPI(full, f.dialect) }
	here := f.model == "" && r.ContentLength != 0 && slices.ContainsFunc(p.cfg.Routes, func(r Route) bool { return r.LocalOnly })
	if here { // it may be meant for such a route
		same := speaks
		speaks = func(full string) bool { return same(full) && p.cfg.Runs.Local(full) }
	}
	found := map[string]upstream{}
	for _, route := range p.cfg.Routes {
		if f.model != "" && !route.fits(f.model) {
			continue
		}
		models := p.modelsOf(route, f.dialect, f.model)
		if i := slices.IndexFunc(models, speaks); i >= 0 {
			to.entry, to.model, _ = strings.Cut(models[i], "/")
			to.own = p.cfg.credential(route, models, f.dialect, r.Header)
			if f.model != "" || route.fits("") {
				return to, 0, ""
			}
			if _, twice := found[to.entry]; !twice {
				found[to.entry] = to
			}
		}
		if f.model != "" {
			break // the first that fits counts
		}
	}
	switch {
	case len(found) == 1:
		return found[to.entry], 0, ""
	case len(found) == 0 && here:
		return to, http.StatusNotFound, fmt.Sprintf("This names no model, so that it may be for a route that keeps contents on this machine, and no model server here speaks this API (%s): nothing was sent.", f.dialect.entry)
	case len(found) == 0:
		return to, http.StatusNotFound, fmt.Sprintf("No provider that this may go to speaks this API (%s): nothing was sent. `mulligan proxy --help` tells of routes.", f.dialect.entry)
	}
	names := strings.Join(slices.Sorted(maps.Keys(found)), ", ")
	return to, http.StatusBadRequest, fmt.Sprintf("It is not clear which of %s this is for: name a model in the request, or give the proxy a route for \"*\".", names)
}

// out is the forwarded request.
func (f *forwarding) out(r *http.Request, model string) (*http.Request, error) {
	out := r.WithContext(r.Context())
	out.URL, out.Header = r.URL, headersUp(r.Header)
	if f.model != "" && model != f.model {
		out.URL = named(r.URL, model)
		if f.whole && len(f.body) > 0 {
			if f.dialect == generate {
				model = "models/" + model
			}
			body, err := wire.WithModel(f.body, model)
			if err != nil {
				return nil, err
			}
			f.body, out.ContentLength = body, int64(len(body))
		}
	}
	switch {
	case f.whole:
		out.Body = io.NopCloser(bytes.NewReader(f.body))
	case f.body != nil:
		out.Body = io.NopCloser(io.MultiReader(bytes.NewReader(f.body), f.rest))
	}
	return out, nil
}

// exchange sends the request to a provider and passes the answer on.
func (p *Proxy) exchange(w http.ResponseWriter, out *http.Request, d *dialect, to upstream) {
	ctx, cancel := context.WithCancelCause(out.Context())
	defer cancel(nil)
	quiet := time.AfterFunc(mostSilence, func() { cancel(errSilent) })
	defer quiet.Stop()
	control := http.NewResponseController(w)
	_ = control.EnableFullDuplex() // without support for it the body is read first
	answer, err := p.cfg.Forward(to.entry, out.WithContext(ctx), to.own)
	if err != nil {
		f, ok := failure.AsFailure(err)
		if !ok || errors.Is(context.Cause(ctx), errSilent) {
			f = silence(to.entry)
		}
		p.report(w, d, f)
		return
	}
	defer answer.Body.Close()
	passHeaders(w.Header(), answer.Header)
	if packing := answer.Header.Values("Content-Encoding"); len(packing) > 0 {
		w.Header()["Content-Encoding"] = packing
	}
	w.WriteHeader(answer.StatusCode)
	_ = control.Flush()
	buffer := make([]byte, 32<<10)
	for {
		n, err := answer.Body.Read(buffer)
		quiet.Reset(mostSilence)
		_ = control.SetWriteDeadline(time.Now().Add(writeTime)) // test writers have no deadline
		if _, failed := w.Write(buffer[:n]); failed != nil {
			return
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			panic(http.ErrAbortHandler) // the status is sent: only a broken connection can say that the body is incomplete
		}
		_ = control.Flush()
	}
}

// report answers with a failure as an error of the caller's wire.
func (p *Proxy) report(w http.ResponseWriter, d *dialect, f *failure.Failure) {
	report := d.reportOf(f, "")
	if after := retryAfter(f, time.Now()); after != "" {
		w.Header().Set("Retry-After", after)
	}
	p.refuse(w, d, report.Status, report.Message)
}

// sameAPI reports whether a model's provider has the same API as d; OpenAI's two wires are one
// API.
func (c *Config) sameAPI(full string, d *dialect) bool {
	if d == chat || d == responsesAPI {
		return c.speaks(full, chat) || c.speaks(full, responsesAPI)
	}
	return c.speaks(full, d)
}
