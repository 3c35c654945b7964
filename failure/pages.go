package failure

import (
	"slices"
	"strings"
)

// byPage recognises answers that came from no API: a log-in page, a bot check, a web server that
// does not know the path.
func (c *reading) byPage() (verdict, bool) {
	e := c.e
	page := strings.Contains(strings.ToLower(e.header("Content-Type")), "text/html") && len(c.codes) == 0
	const noSuchPath, bodyless = "404 page not found", "404 status code (no body)"
	botCheck, _ := c.saysAny(botChecks)
	pageClue := Clue{Source: CluePage, Where: "content-type", Value: "text/html"}
	switch cf := e.header("Cf-Mitigated"); {
	case cf != "":
		return verdict{kind: KindUnreachable, once: never, variant: "bot_check", by: Clue{Source: ClueHeader, Where: "cf-mitigated", Value: cf}}, true
	case botCheck != "" && (page || strings.HasPrefix(string(e.Body), "<")) && (e.Status == 403 || e.Status == 503):
		return verdict{kind: KindUnreachable, once: never, variant: "bot_check", by: Clue{Source: CluePage, Where: "words", Value: botCheck}}, true
	case page && e.Status/100 == 2 && !c.streaming():
		return verdict{kind: KindUnreachable, variant: "page", by: pageClue}, true
	case (page || c.body.members == 0 && isPage(e)) && c.status == 404:
		return verdict{kind: KindMisconfigured, variant: "no_api", by: pageClue}, true
	case c.says(noSuchPath):
		return verdict{kind: KindMisconfigured, variant: "no_api", by: c.words(noSuchPath)}, true
	case c.says(bodyless):
		return verdict{kind: KindMisconfigured, variant: "no_api", by: c.words(bodyless)}, true
	}
	return c.byNameless()
}

// isPage reports whether the body is an HTML page, whatever its content type.
func isPage(e *Evidence) bool {
	came := string(e.Body[:min(len(e.Body), maxLead)])
	if len(e.Body) == 0 && e.Err != nil {
		came = e.Err.Error()
	}
	came = strings.ToLower(came)
	return strings.Contains(came, "<!doctype html") || strings.Contains(came, "<html")
}

// byNameless recognises a 404 that does not name what is missing. A web server says that about a
// path; an API without the model names the model.
func (c *reading) byNameless() (verdict, bool) {
	if c.status != 404 && c.spoken != 404 {
		return verdict{}, false
	}
	said := strings.TrimRight(c.text[strings.LastIndexByte(c.text, '\n')+1:], ". ")
	if _, named := c.codeLike(modelCodes); named || !slices.Contains(namelessNotFound, said) {
		return verdict{}, false
	}
	return verdict{kind: KindMisconfigured, variant: "no_api", by: c.words(said)}, true
}

var (
	// botChecks are words of pages that check whether the visitor is a person.
	botChecks = []string{"just a moment", "attention required! | cloudflare", "enable javascript and cookies to continue", "checking your browser"}
	// namelessNotFound is everything that a web server says about a path that it does not know.
	namelessNotFound = []string{"not found", "404 not found", "404: not found", "file not found", "resource not found", "url not found"}
	// modelCodes are parts of codes about a model.
	modelCodes = []string{"model", "deployment"}
)
