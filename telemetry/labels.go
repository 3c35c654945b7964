package telemetry

import (
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// other is the label for everything without a label of its own.
const other = "other"

// maxPlugins is how many plugins get a label of their own: their names may come from a log
// written under another configuration.
const maxPlugins = 32

// maxLabels is how many labels a metric has at most.
const maxLabels = 4

// labelSets caches the label sets in use, of which there are few, because making one costs as
// much as counting something under it.
type labelSets struct {
	mu   sync.RWMutex
	made map[[maxLabels]attribute.KeyValue]metric.MeasurementOption
}

// of returns a set of at most maxLabels labels.
func (s *labelSets) of(kvs ...attribute.KeyValue) metric.MeasurementOption {
	var key [maxLabels]attribute.KeyValue
	copy(key[:], kvs)
	s.mu.RLock()
	set, ok := s.made[key]
	s.mu.RUnlock()
	if ok {
		return set
	}
	set = metric.WithAttributeSet(attribute.NewSet(kvs...))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made[key] = set
	return set
}

// modelNames are the models that get labels of their own.
type modelNames map[string]bool

// of returns the labels of a model by its full name.
func (n modelNames) of(model string) (provider, name attribute.KeyValue) {
	if !n[model] {
		return labelProvider.String(other), labelModel.String(other)
	}
	entry, _, _ := strings.Cut(model, "/")
	return labelProvider.String(entry), labelModel.String(model)
}

// firstNames are the first names seen, up to a limit. It is safe for concurrent use.
type firstNames struct {
	mu    sync.Mutex
	most  int
	names map[string]bool
}

// of returns the name, or other.
func (n *firstNames) of(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.names[name] && len(n.names) >= n.most {
		return other
	}
	n.names[name] = true
	return name
}

// kindLabel is the kind, or other for one that another version wrote.
func kindLabel(k failure.Kind) string {
	if k.Known() {
		return string(k)
	}
	return string(failure.KindUnknown)
}

// actionLabel is the action of a vote or a decision.
func actionLabel(a recovery.Action) string {
	switch a {
	case recovery.ActionRetry, recovery.ActionSwitchModel, recovery.ActionFail, recovery.ActionApprove:
		return string(a)
	case recovery.ActionNone:
		return outcomeNone
	}
	return other
}

// voteLabel says how a question to a plugin ended.
func voteLabel(v recovery.Vote) string {
	if v.Action == recovery.ActionNone && v.Error != "" {
		return outcomeError
	}
	return actionLabel(v.Action)
}

// buttonLabel is the kind of the button that a person chose; kinds that plugins invent become
// other.
func buttonLabel(kind string) string {
	switch kind {
	case recovery.ButtonRetry, recovery.ButtonSwitchModel, recovery.ButtonLarger, recovery.ButtonCompact,
		recovery.ButtonResumeAt, recovery.ButtonWaitLonger, recovery.ButtonExtend, recovery.ButtonTellAgent,
		recovery.ButtonRerunTool, recovery.ButtonRunTool, recovery.ButtonRefuseTool, recovery.ButtonStop, recovery.ButtonRetryNow, recovery.ButtonCancelWait:
		return kind
	}
	return other
}

// stopLabel is why a run ended.
func stopLabel(reason string) string {
	switch reason {
	case "completed", "failed", "cancelled", "timeout", "step_timeout", "max_turn_time", "interrupted":
		return reason
	}
	return other
}
