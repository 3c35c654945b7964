package provider

import (
	"cmp"

	"github.com/mulligan-run/mulligan/llm"
)

// info is what is known about the model with that full name: what its entry says and, for the rest,
// what is known about such models.
func (s *Set) info(full string) ModelInfo {
	e, ok := s.entry(full)
	if !ok || len(full) <= len(e.Name)+1 {
		return ModelInfo{}
	}
	return e.info(full[len(e.Name)+1:])
}

func (e Entry) info(model string) ModelInfo {
	info := knownModel(model)
	info.Name = model
	for _, m := range e.Models {
		if m.Name == model {
			return m.or(info)
		}
	}
	return info
}

// or fills in the fields of m that are missing.
func (m ModelInfo) or(known ModelInfo) ModelInfo {
	return ModelInfo{
		Name:           m.Name,
		ContextTokens:  cmp.Or(m.ContextTokens, known.ContextTokens),
		NoImages:       cmp.Or(m.NoImages, known.NoImages),
		NoTools:        cmp.Or(m.NoTools, known.NoTools),
		NoSchema:       cmp.Or(m.NoSchema, known.NoSchema),
		Prefill:        cmp.Or(m.Prefill, known.Prefill),
		ThinksSilently: cmp.Or(m.ThinksSilently, known.ThinksSilently),
	}
}

// Capabilities is what is known about what the model accepts. A field is zero if nothing is known.
func (s *Set) Capabilities(full string) llm.Capabilities {
	if s == nil {
		return llm.Capabilities{}
	}
	info := s.info(full)
	return llm.Capabilities{
		ContextTokens: int64(info.ContextTokens),
		NoImages:      is(info.NoImages), NoTools: is(info.NoTools), NoSchema: is(info.NoSchema), Prefill: is(info.Prefill),
		Local: s.Local(full) && s.Loopback(full), // a gateway on this machine asks other machines
	}
}

// ThinksSilently reports whether the model is known to send nothing while it thinks, so that its
// timers should be long.
func (s *Set) ThinksSilently(full string) bool {
	info := s.info(full)
	return is(info.ThinksSilently)
}

// capabilities is Capabilities for an adapter, which knows a model by its name on the wire.
func (s *Set) capabilities(e Entry) func(model string) llm.Capabilities {
	return func(model string) llm.Capabilities { return s.Capabilities(e.Name + "/" + model) }
}

func is(known *bool) bool { return known != nil && *known }
