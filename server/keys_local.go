package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/gateway"
)

// localServers are the model servers that are looked for on this machine.
var localServers = []string{"ollama", "lmstudio"}

const (
	localPatience  = 700 * time.Millisecond
	maxLocalList   = 1 << 20 // bytes
	maxLocalModels = 50
)

// Local implements gateway.Keys. It connects to this machine only.
func (k *keyDesk) Local(ctx context.Context) []gateway.LocalServer {
	ctx, cancel := context.WithTimeout(ctx, localPatience)
	defer cancel()
	found := make([][]string, len(localServers))
	var all sync.WaitGroup
	for i, name := range localServers {
		for _, e := range k.models.Set.Entries() {
			if e.Name == name && k.models.Set.Loopback(name+"/") {
				all.Go(func() { found[i] = modelsAt(ctx, e.BaseURL) })
			}
		}
	}
	all.Wait()
	var list []gateway.LocalServer
	for i, name := range localServers {
		var models []string
		for _, id := range found[i] {
			if full := name + "/" + id; config.CheckModel(full) == nil && len(models) < maxLocalModels {
				models = append(models, full)
			}
		}
		if len(models) > 0 {
			list = append(list, gateway.LocalServer{Name: name, Title: words.ProviderName(name), Models: models})
		}
	}
	return list
}

// modelsAt lists the models of a server on this machine; none if it does not answer.
func modelsAt(ctx context.Context, base string) []string {
	client := &http.Client{
		Transport:     &http.Transport{DialContext: dialHere, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(base, "/")+"/models", nil)
	if err != nil {
		return nil
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil
	}
	defer func() { _ = answer.Body.Close() }() // only read
	var said struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if answer.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(answer.Body, maxLocalList)).Decode(&said) != nil {
		return nil
	}
	var ids []string
	for _, m := range said.Data {
		if isModelName(m.ID) && !strings.Contains(m.ID, "embed") { // embedding models write no text
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// isModelName reports whether a server's name for a model is readable.
func isModelName(id string) bool {
	const most = 200
	return id != "" && len(id) <= most && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })
}

// dialHere connects to this machine only.
func dialHere(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if at, ok := conn.RemoteAddr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
		return nil, errors.Join(errors.New("the server is not on this machine"), conn.Close())
	}
	return conn, nil
}
