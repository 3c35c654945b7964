// Package valuestest is the suite that every values.Store passes.
package valuestest
