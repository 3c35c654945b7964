package probe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/mulligan-run/mulligan/server"
)

// Ready says why no "mulligan serve" of the state folder could begin a run at the moment:
// none listens there, or none of those that do is ready. It takes at most 3 s.
func Ready(ctx context.Context, state string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	all, err := server.ListeningNow(state)
	if err != nil {
		return err
	}
	err = fmt.Errorf("no mulligan serve of %s listens", state)
	for _, one := range all {
		if err = ask(ctx, one); err == nil {
			return nil
		}
	}
	return err
}

// ask asks one that listens on this machine.
func ask(ctx context.Context, s server.Listening) error {
	base, way := s.Way()
	question, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	defer way.CloseIdleConnections()
	answer, err := (&http.Client{Transport: way}).Do(question)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return errors.New("it is not ready: " + answer.Status)
	}
	return nil
}
