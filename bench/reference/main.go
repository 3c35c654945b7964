package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// pages generate a page each from the repository at top, by file name.
var pages = map[string]func(top string) (string, error){
	"config.md":            configPage,
	"events.md":            eventsPage,
	"api.md":               func(string) (string, error) { return apiPage() },
	"protocol-messages.md": protocolPage,
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: reference FOLDER")
		os.Exit(2)
	}
	for name, page := range pages {
		text, err := page("..") // from bench
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[1], name), []byte(text), 0o644) //nolint:gosec // it is published
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "reference:", name+":", err)
			os.Exit(1)
		}
	}
}
