package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/internal/yamlfile"
	"github.com/mulligan-run/mulligan/recovery"
)

// occasionsProblem checks the occasions of the plugin at that path in the file.
func (p Plugin) occasionsProblem(at string) *yamlfile.Problem {
	for i, occasion := range p.Occasions {
		switch at := fmt.Sprintf("%s.occasions[%d]", at, i); {
		case !slices.Contains(recovery.Hooks, occasion):
			return yamlfile.Problemf(at, "there is no occasion %q; there are: %s", occasion, strings.Join(recovery.Hooks, ", "))
		case slices.Contains(p.Occasions[:i], occasion):
			return yamlfile.Problemf(at, "%s is listed twice", occasion)
		}
	}
	before := slices.Contains(p.Occasions, recovery.HookBeforeCall)
	tools := slices.Contains(p.Occasions, recovery.HookToolError)
	switch {
	case p.Occasions != nil && len(p.Occasions) == 0:
		return yamlfile.Problemf(at+".occasions", "a plugin that is asked about nothing can be left out")
	case p.FailClosed && !before:
		return yamlfile.Problemf(at+".fail_closed", "only what is asked before a call can keep it from beginning: add before_call to occasions")
	case p.Shadow && before:
		return yamlfile.Problemf(at+".shadow", "a plugin on trial is not asked before calls: take before_call out of occasions, or shadow away")
	case p.Shadow && tools:
		return yamlfile.Problemf(at+".shadow", "a plugin on trial is not asked about tools: take tool_error out of occasions, or shadow away")
	}
	return nil
}
