package provider

import (
	"cmp"
	"net/url"
	"strings"
)

// Named is the known provider with a host that occurs in text, such as a network library's error
// message; "" if none does. This machine's names do not count.
func Named(text string) string {
	for _, k := range knownEntries {
		base, err := url.Parse(cmp.Or(k.BaseURL, wires[k.Wire].base))
		if err == nil && base.Hostname() != "" && !k.Own && strings.Contains(text, base.Hostname()) {
			return k.Name
		}
	}
	return ""
}
