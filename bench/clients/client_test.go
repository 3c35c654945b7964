package clients

import (
	"path/filepath"
)

// client is a program and how it is started.
type client struct {
	name    string
	pinned  string // the line in a lock file, up to the version
	needs   string // a file below .cache/clients that must exist; "" = only Go is needed
	heavy   bool   // it starts slowly: outside the report it meets only a few faults
	rare    bool   // it is played only if somebody has installed it, and not in the report
	plain   bool   // it offers no tools
	program func(t *tools) []string
	env     []string
}

// tools says where the programs are.
type tools struct {
	cache string // .cache/clients
	here  string // this folder
	node  string // a folder with the scripts of node/ and their modules
	agent string // internal/compat/agent
}

func (t *tools) module(name string) string {
	return filepath.Join(t.cache, "node", "node_modules", filepath.FromSlash(name))
}

func inNode(script string) func(*tools) []string {
	return func(t *tools) []string { return []string{t.module(".bin/node"), filepath.Join(t.node, script)} }
}

func inPython(script string) func(*tools) []string {
	return func(t *tools) []string {
		return []string{filepath.Join(t.cache, "python", "bin", "python"), filepath.Join(t.here, "python", script)}
	}
}

func inGo(sdk string) func(*tools) []string {
	return func(t *tools) []string { return []string{t.agent, sdk} }
}

// clients are the programs, in the order of the report. Telemetry, lookups and updates are off.
var clients = []client{
	{
		name: "Claude Code", heavy: true, pinned: `"@anthropic-ai/claude-code": "`,
		needs: "node/node_modules/@anthropic-ai/claude-code-linux-x64/claude",
		program: func(t *tools) []string {
			return []string{t.module("@anthropic-ai/claude-code-linux-x64/claude"), "-p", prompt, "--model", "claude-sonnet-4-5", "--allowedTools", "Bash"}
		},
		env: []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1"},
	},
	{
		name: "Codex", heavy: true, pinned: `"@openai/codex": "`,
		needs: "node/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
		program: func(t *tools) []string {
			return []string{
				t.module("@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"), "exec", "--skip-git-repo-check",
				"--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5.2", "-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false", prompt,
			}
		},
	},
	{
		name: "opencode", heavy: true, pinned: `"opencode-linux-x64": "`,
		needs: "node/node_modules/opencode-linux-x64/bin/opencode",
		program: func(t *tools) []string {
			return []string{t.module("opencode-linux-x64/bin/opencode"), "run", "--model", "anthropic/claude-sonnet-4-5", prompt}
		},
		env: []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_SHARE=1"},
	},
	{
		name: "aider", heavy: true, rare: true, plain: true, pinned: "aider-chat==", needs: "aider/bin/aider",
		program: func(t *tools) []string {
			return []string{
				filepath.Join(t.cache, "aider", "bin", "aider"), "--model", "openai/gpt-4o", "--message", prompt, "--no-git", "--yes-always", "--no-check-update",
				"--no-show-release-notes", "--no-analytics", "--no-show-model-warnings", "--no-pretty", "--no-gitignore", "--map-tokens", "0", "--no-detect-urls",
			}
		},
		env: []string{"LITELLM_LOCAL_MODEL_COST_MAP=True"},
	},
	{
		name: "llm", pinned: "llm==", needs: "python/bin/llm",
		program: func(t *tools) []string {
			return []string{filepath.Join(t.cache, "python", "bin", "llm"), "-m", "gpt-4o", "--functions", filepath.Join(t.here, "python", "tool.py"), prompt}
		},
	},
	{name: "openai (Python)", pinned: "openai==", needs: "python/bin/python", program: inPython("openai_chat.py")},
	{name: "anthropic (Python)", pinned: "anthropic==", needs: "python/bin/python", program: inPython("anthropic_messages.py")},
	{name: "LangChain", pinned: "langchain==", needs: "python/bin/python", program: inPython("langchain_agent.py")},
	{name: "openai (TypeScript)", pinned: `"openai": "`, needs: "node/node_modules/openai", program: inNode("openai-chat.mjs")},
	{name: "anthropic (TypeScript)", pinned: `"@anthropic-ai/sdk": "`, needs: "node/node_modules/@anthropic-ai/sdk", program: inNode("anthropic-messages.mjs")},
	{name: "Vercel AI SDK", pinned: `"ai": "`, needs: "node/node_modules/ai", program: inNode("vercel-ai.mjs")},
	{name: "openai (Go)", pinned: "github.com/openai/openai-go/v3 v", program: inGo("openai")},
	{name: "anthropic (Go)", pinned: "github.com/anthropics/anthropic-sdk-go v", program: inGo("anthropic")},
}
