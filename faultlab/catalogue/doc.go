// Package catalogue is the catalogue of provider faults, with a script for each row:
// the exact bytes and pauses of an answer, and what a client must make of it.
//
//	row, _ := catalogue.Find("O01")
//	for _, script := range row.Scripts() {
//		// script.Wire "openai": 429, x-ratelimit-reset-tokens: 9.816s, …
//		// script.Expect: rate_limit, retryable, after 9.816 s
//	}
//
// faults.tsv is the catalogue. rows/ holds the scripts; package faultlab plays them.
//
// # A script file
//
// rows/<row>.txt is the script of a row, rows/<row>-<variant>.txt another one. A
// file has a head and a section for each of its answers:
//
//	# Tokens per minute are used up.
//	wait: 9816ms
//
//	== openai responses
//	429
//	content-type: application/json
//	x-ratelimit-reset-tokens: 9.816s
//
//	{"error":{"message":"Rate limit reached …"}}
//
// The head makes exact what the row leaves open. Its lines are empty, begin with #, or are
//
//	kind: <kind>       if it is not the row's; "answer" = no failure, the run completes
//	retryable: yes|no  if it is not what the row's column says
//	wait: <duration>   the retry hint that the failure carries; "none" = it carries none
//	resets: <RFC 3339> when the failure says that the limit ends
//	text: <words>      what the answer says, where it is not a failure
//	note: <words>      why anything differs from the row; several lines are one note
//	transport: <name>  the broken transport that plays the row below HTTP
//	client: <words>    why no server can play the row
//
// A file with a transport or a client line may have no section; any other has at least one.
//
// A section begins with == and its wires (anthropic, openai, responses, gemini), or * for
// all four. It goes on with the status, then the header, one "name: value" a line, then an
// empty line and the body. The status "raw" stands for no HTTP at all: there is no header,
// and the body is what the connection carries.
//
// What a body shows is what is sent, each line with a line feed after it, up to the next
// section or the end of the file. Lines that begin with @ are acts:
//
//	@send "…"      exactly these bytes: a string as in Go
//	@raw "…"       the same, past the framing of HTTP, as is all that follows
//	@pause 10s     wait
//	@repeat 3      play the lines up to @again three times; without a number, for ever
//	@again
//	@big 40MiB     that many letters x
//	@hang          nothing more, until the client goes
//	@cut           close the connection although the answer is not complete
//	@reset         reset the connection (TCP RST)
//	@end           the proper end, as at the end of a section
//	@# …           a comment
//
// After @hang, @cut, @reset, @end and an endless @repeat only empty lines and comments may
// follow. What is raw and has sent something may neither hang nor repeat for ever.
//
// # Placeholders
//
// Header values and bodies may contain placeholders, which [Values.Fill] replaces:
//
//	{{model}}          the model asked for, fit for a JSON string
//	{{tool}}           the first tool offered, likewise; get_weather if there is none
//	{{now|http}}       the time of the request, in whole seconds, as an HTTP date
//	{{now+7s|epoch}}   7 s later, as Unix seconds
//	{{now-1h|rfc3339}} an hour earlier, as in RFC 3339
package catalogue
