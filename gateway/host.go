package gateway

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/internal/webguard"
)

// checkHost refuses a request that was not meant for this gateway (S04). A page whose name
// was made to resolve to this machine (DNS rebinding) sends its own name as Host, which
// tells it from our pages, whatever address the gateway is bound to.
//
// Allowed are the configured names, the address that the connection came in by, and, if
// that is a loopback address, localhost and its addresses. The port must match. Case is
// ignored; a trailing dot is refused.
func (g *Guard) checkHost(r *http.Request) error {
	host := strings.ToLower(r.Host)
	if g.hosts[host] || slices.Contains(webguard.OwnHosts(r, g.cfg.TLS), host) {
		return nil
	}
	return refusal{code: http.StatusMisdirectedRequest, why: "this gateway is not reached by that name: use the address that it listens on, or configure the name"}
}

// checkHost refuses a configured name that no client sends.
func checkHost(host string) error {
	if host == "" || strings.ContainsAny(host, "/@?#* \t") {
		return fmt.Errorf("%q is not a host: write name or name:port, without a scheme", host)
	}
	return nil
}
