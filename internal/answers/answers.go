package answers

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// Request says which open suggestions to answer, and how.
type Request struct {
	// Query chooses the runs; its SuggestionOpen, Oldest and Before are ignored. Limit bounds how
	// many are answered.
	Query    timeline.Query
	Provider string   // the entry that failed; "" = any
	Runs     []string // only these; none = any
	Action   string   // an action's kind; "" = the one that is suggested
	Model    string   // for an action that switches: the model, which must be among those offered
	Preview  bool     // only say what would be done
}

// The possible results for a suggestion that is answered together with others.
const (
	Would  = "would"  // it would be answered so
	Sent   = "sent"   // the answer is durable, and whoever drives the run next carries it out
	None   = "none"   // no such action is offered
	Failed = "failed" // the answer could not be written
)

const (
	answersAtOnce = 16  // written concurrently
	openPage      = 500 // open suggestions fetched by one query
	// mostAnswers is how many suggestions are answered at once, at most.
	mostAnswers = 5000
)

// Result is the result for one suggestion.
type Result struct {
	Run   timeline.Summary
	State string         // Would, …
	Offer timeline.Offer // the action; zero with None
	Err   error          // with Failed
}

// All answers the suggestions that a chooses, each only once however often All is called, because
// the command that answers a suggestion has a fixed name. It returns a result for each, and whether
// there are more than Limit. done, if not nil, is called with each result as it comes, one at a
// time. If ctx ends early, those that were not sent are Failed.
func All(ctx context.Context, log timeline.Log, a Request, now time.Time, done func(Result)) (results []Result, more bool, err error) {
	limit := min(a.Query.Limit, mostAnswers)
	if limit <= 0 {
		limit = mostAnswers
	}
	for s, err := range openSuggestions(ctx, log, a.Query, now) {
		if err != nil {
			return nil, false, err
		}
		if !a.means(s) {
			continue
		}
		if len(results) == limit {
			more = true
			break
		}
		results = append(results, a.found(s))
	}
	var mu sync.Mutex
	tell := func(r Result) {
		if done != nil {
			mu.Lock()
			defer mu.Unlock()
			done(r)
		}
	}
	var writing sync.WaitGroup
	places := make(chan struct{}, answersAtOnce)
	for i := range results {
		r := &results[i]
		if r.State == None || a.Preview {
			tell(*r)
			continue
		}
		places <- struct{}{}
		writing.Go(func() {
			defer func() { <-places }()
			r.send(ctx, log)
			tell(*r)
		})
	}
	writing.Wait()
	return results, more, nil
}

// means reports whether a chooses the open suggestion of s, beyond what its Query says.
func (a Request) means(s timeline.Summary) bool {
	return (a.Provider == "" || s.Course.Course().Provider == a.Provider) && (len(a.Runs) == 0 || slices.Contains(a.Runs, s.Run))
}

// found is what a would do about the suggestion of s. A tool call is approved with others only by
// name: what is suggested after failures never approves one.
func (a Request) found(s timeline.Summary) Result {
	course := s.Course.Course()
	for _, o := range course.Offers {
		suggested := a.Action == "" && o.Kind != recovery.ButtonStop && course.Approval == ""
		if (suggested || o.Kind == a.Action) && (a.Model == "" || o.Model == a.Model) {
			return Result{Run: s, State: Would, Offer: o}
		}
	}
	return Result{Run: s, State: None}
}

func (r *Result) send(ctx context.Context, log timeline.Log) {
	_, err := log.Send(ctx, r.Run.Run, timeline.Command{
		ID: "answer-" + r.Run.Asking, Body: recovery.Accepted{Suggestion: r.Run.Asking, Action: r.Offer.ID},
	})
	if r.State = Sent; err != nil {
		r.State, r.Err = Failed, err
	}
}

// openSuggestions yields the runs matching q whose suggestion can be answered, newest
// first.
func openSuggestions(ctx context.Context, log timeline.Log, q timeline.Query, now time.Time) func(yield func(timeline.Summary, error) bool) {
	q.SuggestionOpen, q.Oldest, q.Before, q.Limit = true, false, "", openPage
	return func(yield func(timeline.Summary, error) bool) {
		for {
			page, err := log.List(ctx, q)
			if err != nil {
				yield(timeline.Summary{}, err)
				return
			}
			for _, s := range page {
				if s.Asks(now) && !yield(s, nil) {
					return
				}
			}
			if len(page) < q.Limit {
				return
			}
			q.Before = page[len(page)-1].Run
		}
	}
}

// Cause is a cause for which several runs wait for a person.
type Cause struct {
	Kind     failure.Kind
	Provider string // the entry that failed; "" = none
	Title    string // of the newest run's failure
	Runs     int
	Since    time.Time // when the oldest of them began to wait
	Expires  time.Time // when the first of them expires
	Offers   []OfferCount
}

// OfferCount is an action, and how many runs offer it.
type OfferCount struct {
	timeline.Offer
	Runs int
}

// Causes groups the open suggestions by what they are about, the cause of the most runs first.
func Causes(ctx context.Context, log timeline.Log, q timeline.Query, now time.Time) ([]Cause, error) {
	var causes []*Cause
	at := map[[2]string]*Cause{}
	for s, err := range openSuggestions(ctx, log, q, now) {
		if err != nil {
			return nil, err
		}
		course := s.Course.Course()
		about := Cause{Kind: s.Kind, Provider: course.Provider, Since: s.UpdatedAt, Expires: s.DueAt}
		about.Title, _, _ = strings.Cut(cmp.Or(course.Approval, s.Problem), "\n")
		key, offers := [2]string{string(s.Kind), course.Provider}, course.Offers
		if course.Approval != "" { // each call is looked at by itself
			about.Kind, about.Provider = "", ""
			key, offers = [2]string{course.Approval}, nil
		}
		c := at[key]
		if c == nil {
			c = &about
			at[key], causes = c, append(causes, c)
		}
		c.add(s, offers)
	}
	slices.SortStableFunc(causes, func(a, b *Cause) int { return b.Runs - a.Runs })
	list := make([]Cause, 0, len(causes))
	for _, c := range causes {
		list = append(list, *c)
	}
	return list, nil
}

func (c *Cause) add(s timeline.Summary, offers []timeline.Offer) {
	c.Runs++
	if s.UpdatedAt.Before(c.Since) {
		c.Since = s.UpdatedAt
	}
	if s.DueAt.Before(c.Expires) {
		c.Expires = s.DueAt
	}
	for _, o := range offers {
		i := slices.IndexFunc(c.Offers, func(other OfferCount) bool { return other.Kind == o.Kind && other.Model == o.Model })
		if i < 0 {
			i, c.Offers = len(c.Offers), append(c.Offers, OfferCount{Offer: o})
		}
		c.Offers[i].Runs++
	}
}
