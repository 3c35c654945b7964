package sim

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// proof names what checks an invariant.
type proof struct {
	id      string
	text    string   // the invariant in short
	sim     bool     // whether a rule of this simulation checks it
	tests   []string // folder and name of tests elsewhere
	missing string   // what is not checked yet
}

// proofs are of all invariants.
var proofs = []proof{
	{"I01", "every accepted run has exactly one terminal event, and nothing but notes after it", true, []string{"recovery TestI01I02I10I11I12I13I14I17I18I19I22I23I40I41", "cmd/mulligan TestKilledInMidStream"}, ""},
	{"I02", "seq is 1, 2, 3, … without gap or repeat, across crash and take-over", true, []string{"timeline TestMemory", "timeline/sqlite TestStore"}, ""},
	{"I03", "kill -9 loses no acknowledged event; power loss loses none at sync=full", false, []string{"cmd/mulligan TestKilledAfterATool", "timeline/sqlite TestKilledOwner", "bench/kill TestKill", "bench/kill TestAcknowledgedAfterSync"}, "a disk that lies about fsync"},
	{"I04", "no tool call with a durable result is executed again", true, []string{"recovery TestCrashBeforeEveryEvent", "runner TestToolsRunOnceAcrossRetries", "cmd/mulligan TestKilledAfterATool", "bench/kill TestKill"}, ""},
	{"I05", "a call that must not be repeated is not, when its outcome is unknown", true, []string{"recovery TestI05I12I25", "recovery TestI05RepeatableToolRunsTwiceAtMost", "cmd/mulligan TestKilledInTheMiddleOfATool", "bench/kill TestKill"}, ""},
	{"I06", "a side effect starts only after its intent is durable", true, []string{"bench/kill TestKill"}, ""},
	{"I07", "no tool runs from an answer whose end was not seen, or with arguments that are no JSON object", true, []string{"runner TestJudgesAnswers", "provider/gemini TestStopOnEveryChunk"}, ""},
	{"I08", "in every request each tool call has its one result, and roles are legal", true, []string{"internal/compat TestAnthropic", "internal/compat TestOpenAI", "internal/compat TestResponses", "internal/compat TestGemini"}, ""},
	{"I09", "the text shown is that of the final message; what is discarded is withdrawn, and shown once", true, []string{"runner TestEventsShowWithdrawnTextOnce"}, ""},
	{"I10", "one attempt at a time", true, nil, ""},
	{"I11", "nothing begins after a deadline or with a budget used up", true, []string{"recovery TestNoWaitBeginsTooLate"}, ""},
	{"I12", "attempts are bounded for every plugin", true, []string{"recovery TestI12FailedAttemptsOfARun", "runner TestAHostilePluginIsBounded"}, ""},
	{"I13", "waits are in their range; a provider's demand is never undercut", true, []string{"recovery TestDecideDelays", "recovery TestInMillisNeverOverflows", "failure FuzzClassify"}, ""},
	{"I14", "no wait of more than 60 s is slept in the process", true, []string{"runner TestWaitsAreKept"}, ""},
	{"I15", "a plugin that fails changes nothing", true, []string{"bench/hostile TestAFaultyPluginChangesNothing", "runner TestABadPluginChangesNothing"}, ""},
	{"I16", "plugins have 2 s each, and 5 s in all", true, []string{"bench/hostile TestHooksHaveOneBudget"}, ""},
	{"I17", "without autoRecover nothing is done because of a decision", true, []string{"runner TestSuggestsAndRecovers"}, ""},
	{"I18", "a suggestion is answered once, by one", true, []string{"recovery TestAcceptOnce", "recovery TestAcceptRefuses", "bench/history TestI18OneAnswer"}, ""},
	{"I19", "models are switched to allowed ones that can do what is needed", true, []string{"recovery TestDecideElects"}, ""},
	{"I20", "a decision is durable before it acts, with its voter", true, []string{"recovery TestCrashBeforeEveryEvent"}, ""},
	{"I21", "keys appear nowhere", true, []string{"host TestP27APluginSeesNoSecret", "provider TestTransportHidesSecrets", "provider/internal/observe TestSecretsInEveryForm"}, "crash dumps"},
	{"I22", "after a cancel nothing begins, and the run ends within 2 s", true, []string{"runner TestCancelInADeafTool", "runner TestCancelEndsAWait"}, ""},
	{"I23", "races have one winner, written once", true, []string{"recovery TestI01I02I10I11I12I13I14I17I18I19I22I23I40I41"}, ""},
	{"I24", "deadlines follow the monotonic clock", true, []string{"runner TestI24AClockThatIsSet"}, ""},
	{"I25", "counters survive a crash; three crashes end a run's going on by itself", true, []string{"recovery TestI05I12I25", "bench/kill TestCrashLoop"}, ""},
	{"I26", "the fold of the log is the live state, after every event", true, []string{"recovery TestI26"}, ""},
	{"I27", "logs of every released version fold to the same state", false, []string{"timeline/sqlite TestGoldenStores"}, ""},
	{"I28", "an older binary refuses a newer store", false, []string{"timeline/sqlite TestNewerSchema", "timeline/sqlite TestGoldenOfANewerVersion"}, ""},
	{"I29", "a follower goes on after its last event without gap or repeat", true, []string{"timeline TestMemory", "timeline/sqlite TestStore"}, ""},
	{"I30", "followers never delay or change a run", true, []string{"timeline TestMemory"}, "a thousand of them (LOAD L3)"},
	{"I31", "what is durable is shown only once it is", true, []string{"timeline TestMemory"}, ""},
	{"I32", "an append that failed stops the run; one that only seemed to is not doubled", true, []string{"timeline/sqlite TestStore", "runner TestI33TheStoreFailsAnywhere"}, ""},
	{"I33", "a full or read-only disk: no panic, no half event, and the run goes on when there is space", false, []string{"runner TestI33TheStoreFailsAnywhere", "bench/disk TestI33TheDiskIsFull", "bench/disk TestI33TheFileIsAsLargeAsItMayBe"}, ""},
	{"I34", "a run has one owner per epoch; an old epoch's write is refused", true, []string{"timeline TestMemory", "timeline/sqlite TestStore", "bench/cluster TestCluster", "runner TestTwoKeepersResumeOnce", "bench/history TestI34OneOwner"}, ""},
	{"I35", "an owner that stood still calls no tool and no model after its lease", true, []string{"runner TestI34I35AStoppedOwner"}, ""},
	{"I36", "a run whose owner died is resumed within the lease and 5 s", true, []string{"runner TestKeepResumesWhatACrashLeft", "timeline/sqlite TestKilledOwner", "runner TestI36AKilledOwner"}, ""},
	{"I37", "starting twice with one idempotency key starts once", false, []string{"runner TestI37TheSameIDIsTheSameRun", "gateway TestI37TheSameKeyIsTheSameRun", "bench/history TestI37OneStart"}, ""},
	{"I38", "after a switch the history is legal for the new provider", true, []string{"provider TestSwitch"}, ""},
	{"I39", "a model that cools down is no alternative; a later failure shortens nothing", true, []string{"health TestNeverShortened", "health TestDoublesUpToAnHourAndResets"}, ""},
	{"I40", "retry counters are reset by an answer only", true, []string{"recovery TestI01I02I10I11I12I13I14I17I18I19I22I23I40I41"}, ""},
	{"I41", "a run's usage is the sum of its attempts'", true, []string{"recovery TestI01I02I10I11I12I13I14I17I18I19I22I23I40I41"}, ""},
	{"I42", "compaction is bounded", false, []string{"runner TestI42ACompactionThatFailsEnds"}, ""},
	{"I43", "words for people are short, valid, and no page, key or stack", true, []string{"failure TestHostileWords", "failure TestStacksAreNoWords"}, ""},
	{"I44", "memory per run is bounded whatever a provider sends", false, []string{"provider TestHostileAnswers", "provider TestTransportLimits", "failure TestReadingIsBounded"}, "measured under load (LOAD L1)"},
	{"I45", "goroutines end with their run", true, []string{"host TestSimChurn", "host TestSimHostKilled"}, "descriptors and files after a long time (LOAD L4)"},
	{"I46", "SIGTERM: runs are let go of and resumed; what was in the air is handed over, and no interruption", true, []string{"runner TestLetGo", "runner TestKeepLetsGo", "runner TestI46ManyDeploysInOneAnswer", "runner TestI46AStoreThatDoesNotAnswer", "cmd/mulligan TestTerminatedInMidStream", "cmd/mulligan TestTerminatedInTheMiddleOfATool"}, ""},
	{"I47", "one bad provider or plugin slows no run that does not use it", false, nil, "LOAD L2"},
	{"I48", "the classifier is total and reads no model's text", false, []string{"failure FuzzClassify", "failure TestModelTextIsNoEvidence"}, ""},
	{"I49", "every kind has its actions; plugins see no prompt unless granted", false, []string{"recovery TestButtons", "failure TestEveryKindAndVariant", "hooks TestNewRunError"}, ""},
	{"I50", "the same seed gives the same log", true, nil, ""},
	{"I51", "no more model calls than the policy allows, whatever anybody says", false, []string{"recovery TestI51"}, ""},
	{"I52", "a command that was taken is acted on or refused, whoever drives the run and whenever it settles", false, []string{"runner TestI52AnAnswerAroundParking", "runner TestI52EveryPairOfCommands", "runner TestI52ACommandThatNobodyHeard", "cmd/mulligan TestI52AcceptedIsDone", "cmd/mulligan TestI52TwoProcesses"}, ""},
}

// TestEveryInvariantHasItsProof: each invariant has one line, the tests that the line names exist,
// every rule has a mutant, and a line without any check says what is missing.
func TestEveryInvariantHasItsProof(t *testing.T) {
	rules := sources(t, ".")
	for i, p := range proofs {
		if want := fmt.Sprintf("I%02d", i+1); p.id != want {
			t.Fatalf("line %d is about %s, not %s", i+1, p.id, want)
		}
		if looks := bytes.Contains(rules, []byte(`"`+p.id+": ")); looks != p.sim {
			t.Errorf("%s: a rule looks at it: %t, the table says %t", p.id, looks, p.sim)
		}
		if mutants, err := filepath.Glob("../../testdata/mutants/" + p.id + "-*.patch"); p.sim && (err != nil || len(mutants) == 0) {
			t.Errorf("%s: no mutant shows that its rule can complain: see bench/mutants", p.id)
		}
		if !p.sim && len(p.tests) == 0 && p.missing == "" {
			t.Errorf("%s is proved nowhere, and the table does not say what is missing", p.id)
		}
		for _, name := range p.tests {
			folder, test, _ := strings.Cut(name, " ")
			if !bytes.Contains(sources(t, filepath.Join("../..", folder)), []byte("func "+test+"(")) {
				t.Errorf("%s: there is no %s in %s", p.id, test, folder)
			}
		}
	}
	if len(proofs) != 52 {
		t.Errorf("%d invariants, not 52", len(proofs))
	}
}

// sources are the test files of a folder.
func sources(t *testing.T, folder string) []byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no tests in %s: %v", folder, err)
	}
	var all []byte
	for _, name := range names {
		text, err := os.ReadFile(name) //nolint:gosec // one of ours
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	return all
}
