package config

import (
	"bytes"
	"maps"
	"slices"

	"github.com/goccy/go-yaml"
)

// configuredModels are the full names of the models below providers, in the order of the file.
func (c *Config) configuredModels(source []byte) []string {
	var doc struct {
		Providers yaml.MapSlice `yaml:"providers"`
	}
	// An error is ignored, since the file was checked before; models that are missing here are
	// listed by name below.
	_ = yaml.NewDecoder(bytes.NewReader(source), yaml.UseOrderedMap()).Decode(&doc)
	var names []string
	for _, entry := range doc.Providers {
		fields, _ := entry.Value.(yaml.MapSlice)
		for _, field := range fields {
			models, _ := field.Value.(yaml.MapSlice)
			for _, model := range models {
				names = append(names, c.modelName(entry.Key, field.Key, model.Key)...)
			}
		}
	}
	for _, entry := range slices.Sorted(maps.Keys(c.Providers)) {
		for _, model := range slices.Sorted(maps.Keys(c.Providers[entry].Models)) {
			if name := entry + "/" + model; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// modelName is the full name of a model at a place in the file, none if there is no model.
func (c *Config) modelName(entry, field, model any) []string {
	e, _ := entry.(string)
	m, _ := model.(string)
	if _, ok := c.Providers[e].Models[m]; !ok || field != "models" {
		return nil
	}
	return []string{e + "/" + m}
}
