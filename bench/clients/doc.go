// Package clients has real programs ask a provider that fails, once directly and once through
// the proxy, each as its registry has it: Claude Code, Codex, opencode, aider, llm, the official
// SDKs in Python, TypeScript and Go, the Vercel AI SDK and LangChain.
//
//	make clients          # installs them but aider, in the versions of node/ and python/
//	go test -C bench ./clients
//	make proxy-report     # every fault with every client, an hour: docs/proxy-report.md
//
// With -rewrite -missing only what testdata/measured.tsv does not have is measured, and with
// -clients=Codex,opencode only that of some clients.
//
// Each has the same conversation: it asks, is told to look at the weather, runs its tool, and is
// told what to wear. scene_test.go is the provider, which fails at a place of that conversation
// (fault_test.go) and is well otherwise; client_test.go says how each program is started, by the
// recipes of internal/recipe in both cases; play_test.go starts it in an empty home and judges what
// it printed: the right answer, once, and the tool ran once.
package clients
