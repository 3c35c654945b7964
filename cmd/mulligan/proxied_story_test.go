package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// proxied is a program that a story starts behind the proxy: by its name it looks for the address
// and the key where the real one does, and makes a call for each of its own arguments.
func proxied() {
	base, header, key, calls, err := whereItLooks(filepath.Base(os.Args[0]), os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(4)
	}
	for _, prompt := range calls {
		body := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"` + prompt + `"}],"input":"` + prompt + `"}`
		r, _ := http.NewRequest(http.MethodPost, base, strings.NewReader(body))
		r.Header.Set(header, key)
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(5)
		}
		answer, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		fmt.Printf("%d %s\n", resp.StatusCode, answer)
		if resp.StatusCode != http.StatusOK {
			os.Exit(6)
		}
	}
}

// whereItLooks is what a program of that name asks, with which key, and what is left of its arguments.
func whereItLooks(name string, args []string) (base, header, key string, own []string, err error) {
	switch name {
	case "claude": // a file of settings comes before the environment
		settings := struct{ Env map[string]string }{Env: map[string]string{"ANTHROPIC_BASE_URL": os.Getenv("ANTHROPIC_BASE_URL")}}
		if len(args) > 1 && args[0] == "--settings" {
			text, readErr := os.ReadFile(args[1])
			if readErr != nil {
				return "", "", "", nil, readErr
			}
			err, args = json.Unmarshal(text, &settings), args[2:]
		}
		return settings.Env["ANTHROPIC_BASE_URL"] + "/v1/messages", "Authorization", "Bearer " + settings.Env["ANTHROPIC_AUTH_TOKEN"], args, err
	case "codex": // it knows no variable, but those that -c names
		for len(args) > 1 && args[0] == "-c" {
			if found := regexp.MustCompile(`base_url="(.*?)".*env_key="(.*?)"`).FindStringSubmatch(args[1]); found != nil {
				base, key = found[1], os.Getenv(found[2])
			}
			args = args[2:]
		}
		return base + "/responses", "Authorization", "Bearer " + key, args, nil
	case "opencode":
		var config struct {
			Provider map[string]struct {
				Options struct{ BaseURL, APIKey string }
			}
		}
		err = json.Unmarshal([]byte(os.Getenv("OPENCODE_CONFIG_CONTENT")), &config)
		options := config.Provider["anthropic"].Options
		return options.BaseURL + "/messages", "X-Api-Key", options.APIKey, args, err
	case "aider":
		return os.Getenv("AIDER_OPENAI_API_BASE") + "/chat/completions", "Authorization", "Bearer " + os.Getenv("AIDER_OPENAI_API_KEY"), args, nil
	}
	return os.Getenv("OPENAI_BASE_URL") + "/chat/completions", "Authorization", "Bearer " + os.Getenv("OPENAI_API_KEY"), args, nil
}
