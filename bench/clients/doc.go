// Package clients has real programs ask a provider that fails, once directly and once through
// the proxy. All are as their registries have them: Claude Code, Codex, opencode, aider, llm,
// the official SDKs in Python, TypeScript and Go, the Vercel AI SDK and LangChain.
//
//	make clients          # installs all but aider, in the versions of node/ and python/
//	go test -C bench ./clients
//	make proxy-report     # every fault with every client, an hour: docs/proxy-report.md
//
// -rewrite -missing measures only what testdata/measured.tsv lacks, and
// -clients=Codex,opencode only some clients.
//
// Each program has the same conversation: it asks a question, is told to look at the weather,
// runs its tool, and is told what to wear. provider_test.go is the provider, which fails at one
// point of that conversation (fault_test.go) and is healthy otherwise. client_test.go says how
// each program is started, with the recipes of internal/recipe in both cases. play_test.go
// starts it in an empty home and checks its output: the right answer, once, and one run of the
// tool.
package clients
