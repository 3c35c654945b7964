// Package config is what a person has settled: mulligan.yaml, amended by the environment
// and by flags, in that order.
//
//	c, err := config.Load("", os.Getenv) // the file where people keep it, or none at all
//
// A file is read strictly: an unknown key, a wrong type and a value out of range are errors
// that show the line. What the file says is then in the words of the rooms that it settles:
// [Config.Policy] for runs, [Gateway.Limits] for the gateway, [Plugin.Policies] for the host.
// Nothing is started, and nothing opened but the file and what it names beside itself.
//
//	config.go        the whole file, and where it is looked for
//	environment.go   MULLIGAN_… and where the state is kept; mistyped.go, what is like one of them
//	providers.go     providers and their models; timeouts.go, their timers and who set each
//	budget.go        what runs may use, and what tokens cost; policy.go, all limits together
//	plugins.go       plugins, those of --plugin too; builtins.go, those that come with the program
//	plugin_policy.go how often a plugin starts again; plugin_remote.go, plugins that are services
//	plugin_index.go  whose list of plugins is believed
//	tools.go         command-line tools; mcp.go, servers of tools
//	gateway.go       the HTTP face; machine.go, what this machine has that others have not
//	failures.go      what failures are, above the classifier; corrections.go and learn.go, what
//	                 was learned when somebody said "wrong"
//	keys.go          what of the environment is a secret
package config
