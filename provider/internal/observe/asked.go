package observe

import (
	"encoding/json"
	"net/http"
	"path"
	"strings"
)

// asked is what a client's request asks for.
type asked struct {
	model string // its name on the wire; "" = unknown
	form  askedForm
}

type askedForm uint8

const (
	askedUnknown askedForm = iota
	askedStream
	askedDocument
)

// askedFor reads a request without consuming its body. The body says whether a stream is wanted;
// Gemini's path does.
func askedFor(r *http.Request) asked {
	model, verb, _ := strings.Cut(path.Base(r.URL.Path), ":")
	switch {
	case verb == "streamGenerateContent" && r.URL.Query().Get("alt") == "sse":
		return asked{model, askedStream}
	case verb == "streamGenerateContent", verb == "generateContent":
		return asked{model, askedDocument}
	}
	if r.Body == nil || r.Body == http.NoBody {
		return asked{form: askedDocument}
	}
	if r.GetBody == nil {
		return asked{}
	}
	body, err := r.GetBody()
	if err != nil {
		return asked{}
	}
	defer body.Close()
	var request struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
	}
	switch err := json.NewDecoder(body).Decode(&request); {
	case err != nil:
		return asked{}
	case request.Stream:
		return asked{request.Model, askedStream}
	}
	return asked{request.Model, askedDocument}
}

// secretsOf are the keys in a request.
func secretsOf(r *http.Request) []string {
	secrets := []string{r.URL.Query().Get("key")}
	for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key", "Proxy-Authorization"} {
		for _, value := range r.Header[name] {
			_, bare, _ := strings.Cut(value, " ")
			secrets = append(secrets, value, bare)
		}
	}
	if _, password, ok := r.BasicAuth(); ok {
		secrets = append(secrets, password)
	}
	return secrets
}
