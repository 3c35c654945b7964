// Package server is the product, put together from what a person settled: models, plugins, tools,
// the store, and the gateway with its page in front of them. "mulligan serve" is a thin verb around
// it, and any Go program can have all of it:
//
//	c, err := config.Load("", os.Getenv)     // mulligan.yaml and MULLIGAN_…
//	srv, err := server.New(c, nil)           // nothing is opened or started yet
//	defer srv.Close()
//	err = srv.Serve(ctx, &server.Reach{Address: "127.0.0.1:8484"}, slog.Default())
//
// What runs do is the runner's affair and what is decided the heart's; here is only who gets what.
//
//	server.go     what is shared, opened once and closed together
//	serve.go      the runs of a store, driven and served until it is enough
//	shared.go     what machines that share a database know together; members.go, who they are;
//	              stranded.go, runs that none of them can drive
//	driver.go     a runner for runs that others began; standing.go, what came of them
//	runs.go       what every door calls: start, recover, cancel, list; learn.go, "wrong, call it …"
//	models.go     the configured models and the demo's; models_timeouts.go, timeouts_table.go, their timers
//	plugins.go    the plugins' processes, builtins.go, those that are this program again;
//	              grants.go and breach.go, what they may have and run; plugins_room.go, how they
//	              do and what people do about them; providers.go, how models do
//	tools.go      command-line tools and the demo's; mcp_servers.go, tools of servers
//	http_server.go   the HTTP server; reach.go, by what names; listening.go, how other processes find it;
//	              logins.go, how a browser gets in; browser.go, how it is opened
//	keys.go       keys that people paste at the page; keys_local.go, model servers on this machine
//	lab.go        the demo's provider, for people at the page
//	telemetry.go, logs.go, library_logs.go   what can be seen from outside, without secrets
package server
