package runner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/hooks"
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
	named := r.hooks()
	if err := checkHooks(named); err != nil {
		return nil, err
	}
	for _, h := range named {
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

// checkHooks refuses hooks that would silently not be asked: those of an occasion that there is not,
// and those that take one under the name of another, since votes are told apart by it.
func checkHooks(all []hooks.Named) error {
	for i, h := range all {
		for _, occasion := range h.Occasions {
			if !slices.Contains(recovery.Hooks, occasion) {
				return fmt.Errorf("hook %q: there is no occasion %q; there are: %s", h.Name, occasion, strings.Join(recovery.Hooks, ", "))
			}
		}
		for _, before := range all[:i] {
			both := func(occasion string) bool { return h.Takes(occasion) && before.Takes(occasion) }
			if h.Name == before.Name && slices.ContainsFunc(recovery.Hooks, both) {
				return fmt.Errorf("two hooks are called %q; give each a name of its own", h.Name)
			}
		}
	}
	return nil
}
