// Package devtools is what plugin authors work with: what "mulligan plugin new", "dev", "replay",
// "logs" and "test" do.
//
//	scaffold.go       a plugin to begin with; languages.go, in which languages; sdk.go, from which SDK;
//	                  scaffold/ has the files
//	dev_session.go    a plugin that runs while it is written, started anew when its folder changes
//	                  (dev_watch.go), or by a person under a debugger (dev_attach.go)
//	replay.go         a plugin asked about failures that were recorded (recorded.go), as occasion.go
//	                  finds them, in the place of another one (stand_in.go)
//	log_lines.go      what plugins wrote to standard error; log_file.go, where it is kept
//	exam_note.go      how sdk/conformance's exam is told to people; exam_json.go, to programs
package devtools
