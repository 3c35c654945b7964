package protoconv

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/mulligan-run/mulligan/internal/doubling"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
)

// TestReplyOfTwiceTheSize: reading a plugin's answer costs in proportion to its length, whether it
// is accepted or refused, and the error about a refused one does not grow.
func TestReplyOfTwiceTheSize(t *testing.T) {
	for name, reply := range map[string]func(n int) *mulliganv1.RunErrorResponse{
		"a long reason": func(n int) *mulliganv1.RunErrorResponse {
			return &mulliganv1.RunErrorResponse{Reason: strings.Repeat("x", 16*n)}
		},
		"a long model": func(n int) *mulliganv1.RunErrorResponse {
			return &mulliganv1.RunErrorResponse{Action: mulliganv1.Action_ACTION_SWITCH_MODEL, NewModel: strings.Repeat("x", 16*n)}
		},
		"no UTF-8": func(n int) *mulliganv1.RunErrorResponse {
			return &mulliganv1.RunErrorResponse{Actions: buttons(1, strings.Repeat("é", 8*n))}
		},
		"buttons": func(n int) *mulliganv1.RunErrorResponse {
			return &mulliganv1.RunErrorResponse{Actions: buttons(n, "l")}
		},
		"an effort": func(n int) *mulliganv1.RunErrorResponse {
			return &mulliganv1.RunErrorResponse{Adjust: &mulliganv1.Adjust{ReasoningEffort: strings.Repeat("\x00", n)}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			doubling.Check(t, 4000, func(n int) func() {
				bytes, err := proto.Marshal(reply(n))
				if err != nil {
					t.Fatal(err)
				}
				return func() {
					var m mulliganv1.RunErrorResponse
					if err := proto.Unmarshal(bytes, &m); err != nil {
						t.Fatal(err)
					}
					if _, err := Reply(&m); err == nil || len(err.Error()) > 1<<10 {
						t.Errorf("refused with %.2000v", err)
					}
				}
			})
		})
	}
}

func buttons(n int, label string) []*mulliganv1.Button {
	var list []*mulliganv1.Button
	for range n {
		list = append(list, &mulliganv1.Button{Kind: "k", Label: label})
	}
	return list
}
