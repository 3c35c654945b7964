// Command reference generates pages of the documentation's site from the code: the keys of
// mulligan.yaml, the events of a run, the HTTP API and the messages of the plugin protocol.
//
//	go run -C bench ./reference FOLDER
package main
