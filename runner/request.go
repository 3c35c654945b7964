package runner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/recovery"
)

// toolsOf are the tools of a run that begins with req.
func (r *Runner) toolsOf(req Request) []Tool {
	own := func(t Tool) bool {
		return slices.ContainsFunc(req.Tools, func(o Tool) bool { return o.Name == t.Name })
	}
	return append(slices.DeleteFunc(slices.Clone(r.tools()), own), req.Tools...)
}

// pluginsOf are the names of the hooks that the run asks, in order.
func (r *Runner) pluginsOf(req Request) ([]string, error) {
	var all, asked []string
	for _, h := range r.hooks() {
		if h.Shadow {
			continue
		}
		all = append(all, h.Name)
		if h.Takes(recovery.HookRunError) && (req.Plugins == nil || slices.Contains(req.Plugins, h.Name)) {
			asked = append(asked, h.Name)
		}
	}
	for _, name := range req.Plugins {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("there is no plugin called %q; there are: %s", name, strings.Join(all, ", "))
		}
	}
	return asked, nil
}
