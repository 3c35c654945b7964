package provider

import "cmp"

// Info is what is known of the model of that full name: what its entry says, and
// where that says nothing, what is known of such models.
func (s *Set) Info(full string) (ModelInfo, bool) {
	e, ok := s.entry(full)
	if !ok || len(full) <= len(e.Name)+1 {
		return ModelInfo{}, false
	}
	return e.info(full[len(e.Name)+1:])
}

func (e Entry) info(model string) (ModelInfo, bool) {
	info, ok := knownModel(model)
	info.Name = model
	for _, m := range e.Models {
		if m.Name == model {
			return m.or(info), true
		}
	}
	return info, ok
}

// or fills in what m does not say.
func (m ModelInfo) or(known ModelInfo) ModelInfo {
	return ModelInfo{
		Name:           m.Name,
		ContextTokens:  cmp.Or(m.ContextTokens, known.ContextTokens),
		InputPrice:     cmp.Or(m.InputPrice, known.InputPrice),
		OutputPrice:    cmp.Or(m.OutputPrice, known.OutputPrice),
		NoImages:       cmp.Or(m.NoImages, known.NoImages),
		ThinksSilently: cmp.Or(m.ThinksSilently, known.ThinksSilently),
	}
}

// ContextTokens is the size of the model's context window, 0 where it is not known.
func (s *Set) ContextTokens(full string) int64 {
	info, _ := s.Info(full)
	return int64(info.ContextTokens)
}

// NoImages reports whether the model is known to take no pictures.
func (s *Set) NoImages(full string) bool {
	info, _ := s.Info(full)
	return info.NoImages != nil && *info.NoImages
}

// ThinksSilently reports whether the model is known to be silent while it thinks,
// so that patience is called for.
func (s *Set) ThinksSilently(full string) bool {
	info, _ := s.Info(full)
	return info.ThinksSilently != nil && *info.ThinksSilently
}

// noImages is NoImages for an adapter, which knows a model by its name on the wire.
func (s *Set) noImages(e Entry) func(model string) bool {
	return func(model string) bool { return s.NoImages(e.Name + "/" + model) }
}
