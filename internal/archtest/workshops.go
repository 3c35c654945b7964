package archtest

// workshops are the rooms of those who write plugins, and of those who take them from others.
var workshops = []Room{
	{
		From: "internal/pluginpublish",
		May:  []string{"std", "github.com/BurntSushi/toml", "host/trust", "recovery"},
		Why:  "what a plugin's folder lacks is read from its files: nothing of it is started there, and no registry is asked",
	},
	{
		From: "internal/plugininstall",
		May: []string{
			"std", "modules", "config", "host", "host/trust", "recovery", "internal/exit", "internal/near", "internal/netguard", "internal/procgroup",
			"internal/terminal", "internal/wholefile", "internal/yamlfile",
		},
		Why: "a plugin is installed into a folder and a config: who asks it, and whether it keeps to its protocol, is not known there",
	},
	{
		From: "internal/devtools/scaffold",
		May:  []string{"std", "modules", "internal/needs"},
		Why:  "what a new plugin is made of is text, and the test that it passes",
	},
	{
		From:  "internal/devtools",
		May:   []string{"std", "modules", "ours"},
		Never: []string{"cmd/...", "bench/...", "gateway/...", "provider/..."},
		Why:   "what plugin authors work with stands on the same host and hooks as every run, and knows no model and no page",
	},
}
