package main

import (
	"fmt"
	"net/http"

	"github.com/mulligan-run/mulligan/gateway"
	gatewayclient "github.com/mulligan-run/mulligan/sdk/go/client"
	"github.com/mulligan-run/mulligan/server"
)

// running is a gateway of this state folder, with a client for it.
type running struct {
	*gatewayclient.Client
	server.Listening
}

// gateways lists the gateways that serve the state folder, the last started first. If there are none,
// the error says how to start one.
func (a *app) gateways() ([]running, error) {
	list, err := server.ListeningNow(a.Dir)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no gateway serves %s: start one with `%s`", a.Dir, a.Screen.Hint("serve"))
	}
	var all []running
	for _, s := range list {
		base, way := s.Way()
		client, err := gatewayclient.New(base, gatewayclient.WithHTTPClient(&http.Client{Transport: way}),
			gatewayclient.WithTokenFrom(func() (string, error) { return gateway.ReadToken(a.Dir) }))
		if err != nil {
			return nil, err
		}
		all = append(all, running{client, s})
	}
	return all, nil
}
