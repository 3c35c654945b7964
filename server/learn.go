package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/gateway"
)

// learn implements gateway.Config's Learn.
func (s *Runs) learn(f failure.Failure, kind failure.Kind) (gateway.Lesson, error) {
	if !f.Correctable() {
		return gateway.Lesson{}, fmt.Errorf("%w: this error was found here, not in what a provider said, so its kind is certain", gateway.ErrNotLearned)
	}
	f.Detail, f.ProviderCode = s.models.Redact(f.Detail), s.models.Redact(f.ProviderCode)
	said, err := s.models.known.Teach(&f, evidenceOf(&f, time.Now()), kind)
	if err != nil {
		return gateway.Lesson{}, fmt.Errorf("%w: %w", gateway.ErrNotLearned, err)
	}
	return gateway.Lesson{Before: said.Before, After: said.After, Row: said.Row, File: said.File, Warning: said.Warning}, nil
}

// evidenceOf reconstructs the evidence for a failure in the timeline, as far as the failure still
// has it.
func evidenceOf(f *failure.Failure, at time.Time) failure.Evidence {
	e := failure.Evidence{Phase: f.Phase, Provider: f.Provider, Model: f.Model, Status: f.HTTPStatus, At: at}
	if f.ProviderCode == "" && f.HTTPStatus == 0 {
		e.Err = errors.New(f.Detail)
		return e
	}
	said := map[string]string{"message": f.Detail}
	if f.ProviderCode != "" {
		said["code"] = f.ProviderCode
	}
	e.Body, _ = json.Marshal(said) // strings can always be encoded
	return e
}
