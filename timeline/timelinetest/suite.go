package timelinetest

import (
	"testing"

	"github.com/mulligan-run/mulligan/timeline"
)

// Options says what else a store can do.
type Options struct {
	// Reopen closes a log that open gave and opens the same store again. It may do so without
	// Close, as after a crash.
	Reopen func(t *testing.T, old timeline.Log) timeline.Log
}

// tests are the tests that every log has to pass, each with an empty log.
var tests = []struct {
	name string
	run  func(*testing.T, timeline.Log)
}{
	{"Append", testAppend},
	{"AppendRefused", testAppendRefused},
	{"AppendAtomic", testAppendAtomic},
	{"AppendRepeated", testAppendRepeated},
	{"AppendCancelled", testAppendCancelled},
	{"AppendParallel", testAppendParallel},
	{"Unknown", testUnknown},
	{"Claim", testClaim},
	{"ClaimExpired", testClaimExpired},
	{"ClaimRace", testClaimRace},
	{"Begin", testBegin},
	{"BeginRefused", testBeginRefused},
	{"BeginClaimed", testBeginClaimed},
	{"BeginRace", testBeginRace},
	{"Release", testRelease},
	{"Renew", testRenew},
	{"Follow", testFollow},
	{"FollowConcurrent", testFollowConcurrent},
	{"FollowEnded", testFollowEnded},
	{"FollowStops", testFollowStops},
	{"FollowSlow", testFollowSlow},
	{"FollowBehind", testFollowBehind},
	{"Deltas", testDeltas},
	{"Tail", testTail},
	{"TailEnds", testTailEnds},
	{"TailLate", testTailLate},
	{"TailIsOver", testTailIsOver},
	{"Inbox", testInbox},
	{"InboxRace", testInboxRace},
	{"Commands", testCommands},
	{"Summary", testSummary},
	{"List", testList},
	{"Course", testCourse},
	{"Search", testSearch},
	{"ListWaiting", testListWaiting},
	{"ListDue", testListDue},
	{"ListDueNoMore", testListDueNoMore},
	{"ListNeeds", testListNeeds},
	{"ListUnheard", testListUnheard},
	{"Sessions", testSessions},
	{"SessionBusy", testSessionBusy},
	{"SessionRace", testSessionRace},
	{"SessionDefaults", testSessionDefaults},
	{"Snapshot", testSnapshot},
	{"Import", testImport},
	{"ImportRefused", testImportRefused},
	{"Delete", testDelete},
	{"Notices", testNotices},
	{"Close", testClose},
}

// Run tests the logs that open gives. Each call of open gives an empty one, which t.Cleanup closes.
// Close may be called more than once.
func Run(t *testing.T, open func(t *testing.T) timeline.Log, opts ...Options) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
	for _, o := range opts {
		if o.Reopen != nil {
			t.Run("Reopen", func(t *testing.T) { testReopen(t, open(t), o.Reopen) })
		}
	}
}
