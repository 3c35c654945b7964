package server

import (
	"context"
	"slices"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// strandedMost is how many due runs are checked for a missing machine, longest due first.
const strandedMost = 1000

// Stranded are the runs that are due but that nobody drives, because no machine has what they
// need.
func (srv *Server) Stranded(ctx context.Context) (map[string]bool, error) {
	list, err := srv.Log.List(ctx, timeline.Query{Due: srv.now(), Needing: true, Limit: strandedMost})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	machines, err := srv.machines(ctx)
	if err != nil {
		return nil, err
	}
	stranded := map[string]bool{}
	for _, s := range list {
		needs := s.Needs.Labels()
		if !slices.ContainsFunc(machines, func(has recovery.Labels) bool { return has.Has(needs) }) {
			stranded[s.Run] = true
		}
	}
	return stranded, nil
}

// machines are the labels of all processes that drive runs of the store: its members, or this
// process if the store has no members.
func (srv *Server) machines(ctx context.Context) ([]recovery.Labels, error) {
	if _, shared := besides[timeline.Members](srv.Log); !shared {
		return []recovery.Labels{srv.Config.MachineHas()}, nil
	}
	members, err := srv.Members(ctx)
	var machines []recovery.Labels
	for m := range slices.Values(members) {
		if !m.Gone && m.Role != roleGateway {
			machines = append(machines, m.Labels)
		}
	}
	return machines, err
}
