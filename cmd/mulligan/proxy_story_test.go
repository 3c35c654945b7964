package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// asks is an agent of somebody else's, as "mulligan proxy --" starts it. Its arguments are what it
// does, one after the other:
//
//	call MODEL     ask MODEL on Anthropic's wire as the environment says, and print the answer
//	get PATH       ask for PATH so
//	key            print what it takes for its key
//	wait           say so, and end with 9 when it gets SIGTERM
func asks() {
	for args := os.Args[1:]; len(args) > 0; args = args[1:] {
		switch args[0] {
		case "call":
			body := `{"model":"` + args[1] + `","max_tokens":99,"messages":[{"role":"user","content":"hello"}]}`
			asksFor(http.MethodPost, "/v1/messages", body)
			args = args[1:]
		case "get":
			asksFor(http.MethodGet, args[1], "")
			args = args[1:]
		case "key":
			fmt.Println("its key is", os.Getenv("ANTHROPIC_API_KEY"))
		case "wait":
			waitsForSignal()
		}
	}
}

func asksFor(method, path, body string) {
	req, err := http.NewRequest(method, os.Getenv("ANTHROPIC_BASE_URL")+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	req.Header = http.Header{"X-Api-Key": {os.Getenv("ANTHROPIC_API_KEY")}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d from %s: %s\n", resp.StatusCode, resp.Header.Get("X-Mulligan-Model"), text)
}

func waitsForSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	fmt.Println("it waits")
	select {
	case <-signals:
		os.Exit(9)
	case <-time.After(time.Minute):
		os.Exit(1)
	}
}
