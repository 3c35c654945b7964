// Package gateway is the HTTP face of runs: commands go down, events come up.
//
// A [Gateway] needs something that starts runs and acts on them ([Runs]) and the timeline
// that tells what happens to them. It keeps nothing of its own: every answer is folded from
// the timeline, so it does not matter which process drives a run.
//
//	POST /v1/runs                   start one                          runs.go
//	GET  /v1/runs                   list, newest first
//	GET  /v1/runs/{id}              where one stands                   view.go
//	GET  /v1/runs/{id}/events       what happens to it, live (SSE)     events.go, subscriber.go, frame.go
//	GET  /v1/runs/{id}/rescue       what happened, in retrospect       rescue.go
//	GET  /v1/runs/{id}/what-if      what else could have               rescue.go
//	POST /v1/runs/{id}/recover      answer it, or cut a wait short     answers.go
//	POST /v1/runs/{id}/cancel       end it
//	POST /v1/runs/{id}/learn        what its error really is           kinds.go
//	GET  /v1/kinds                  what it may be called
//	     /v1/keys…                  API keys that are pasted           keys.go
//	POST /v1/decide, /v1/outcome    advice for others' model calls     advice.go
//	GET  /v1/suggestions            what waits for a person: an inbox
//	     /v1/sessions…              conversations                      sessions.go, session_changes.go
//	GET  /v1/models                 what there is                      things.go
//	GET  /v1/providers              how providers do                   providers.go
//	     /v1/plugins…               how plugins do, and what to do     plugins.go
//	GET  /v1/members                who shares the work                things.go
//	     /v1/faultlab               failures to watch without a key    faultlab.go
//	     /v1/aisdk…                 the same in the AI SDK's words     aisdk.go, talk.go, talker.go
//	POST /v1/agui                   the same in AG-UI's                agui.go
//	GET  /healthz, /readyz          is it up, can it work              health.go
//	GET  /metrics                   how it does, for Prometheus
//	GET  /openapi.json              all of this, for machines          document.go
//
// Errors are problem documents (RFC 9457) that name the field.
//
// A Gateway lets everybody in. Before it stands a [Guard], which knows whom to, and serves
// /v1/login and /v1/logout (login.go): guard.go has what a request is held against, in its
// order, and a file for each of these things.
//
// # Following a run
//
// The stream of events begins after the cursor (Last-Event-ID, or ?after=): durable events
// have their sequence number as id, in order and without a gap; live pieces of text have
// none, and are dropped by whoever has them already. A client that was cut, for whatever
// reason, comes back with the last id that it saw and has missed nothing. The stream ends
// with the run, or stays open for what a person may still do about it.
//
// Who does not read holds nobody up. Behind by more than 256 items or 1 MiB, it is told to
// come back ("resync") by the first thing that it takes after that; it is cut if it takes
// nothing for 10 s. An item is made into bytes once for all who follow, because everybody
// who may follow a run at all sees the same of it.
package gateway
