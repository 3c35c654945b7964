package faults

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/faultlab/catalogue"
)

var rewrite = flag.Bool("rewrite", false, "write docs/faults.md anew")

// offline is the report's column for classifying without a wire.
const offline = "offline"

// line is a row of the report: a script, and its outcome in each column.
type line struct {
	name   string
	row    catalogue.Row
	expect catalogue.Expectation
	cells  map[string]cell
}

// cell is a script's outcome in one column.
type cell struct {
	got  string
	want bool // it is as expected
}

// TestCatalogue plays every script and compares the report with the one in docs. Each row is a test
// of its own, so that one can see which failed.
func TestCatalogue(t *testing.T) {
	lines := playCatalogue(t)
	for _, l := range lines {
		for column, c := range l.cells {
			if !c.want {
				t.Errorf("%s, %s: %s, want %s", l.name, column, c.got, wanted(l.expect))
			}
		}
	}
	path := filepath.Join("..", "..", "docs", "faults.md")
	got := report(lines, readCorpora(t))
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(kept) != got {
		t.Errorf("docs/faults.md is not what becomes of the catalogue: %s; run: make classify-report", firstDifference(string(kept), got))
	}
}

func firstDifference(kept, got string) string {
	a, b := strings.Split(kept, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d is\n%s\nand should be\n%s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("it has %d lines and should have %d", len(a), len(b))
}

func playCatalogue(t *testing.T) []line {
	var lines []line
	became := readOffline(t)
	at := map[string]int{}
	for _, s := range catalogue.All() {
		i, known := at[s.Name()]
		if !known {
			i = len(lines)
			at[s.Name()] = i
			row, ok := catalogue.Find(s.Row)
			if !ok {
				t.Fatalf("%s is no row", s.Row)
			}
			lines = append(lines, line{name: s.Name(), row: row, expect: s.Expect, cells: map[string]cell{}})
			if f := became[row.ID]; f != nil && s.Variant == "" {
				lines[i].cells[offline] = checkAgainst(verdict{failure: f}, wantOffline(row, s))
			}
		}
		if s.Wire != "" {
			lines[i].cells[s.Wire] = checkAgainst(playScript(t, s), s.Expect)
		}
	}
	playTransports(t, lines)
	for _, row := range catalogue.Rows() {
		if _, ok := at[row.ID]; !ok {
			t.Errorf("%s has no script", row.ID)
		}
	}
	return lines
}

// playTransports plays the faults below HTTP concurrently, since they take real time.
func playTransports(t *testing.T, lines []line) {
	t.Helper()
	var mu sync.Mutex
	t.Run("below HTTP", func(t *testing.T) {
		for _, l := range lines {
			s := catalogue.Scripts(l.name)[0]
			for _, wire := range catalogue.Wires() {
				if s.Transport == "" {
					continue
				}
				t.Run(l.name+"/"+wire, func(t *testing.T) {
					t.Parallel()
					if v, ok := playTransport(t, wire, s.Transport); ok {
						mu.Lock()
						defer mu.Unlock()
						l.cells[wire] = checkAgainst(v, s.Expect)
					}
				})
			}
		}
	})
}

func playScript(t *testing.T, s catalogue.Script) verdict {
	t.Helper()
	step, err := faultlab.Row(s.Name())
	if err != nil {
		t.Fatal(err)
	}
	return inBubble(t, s.Wire, s.Wire, step, step, step, step, faultlab.Answer("after the fault")) // the runner has a model repeat an invalid answer up to three times
}

// checkAgainst compares a script's outcome with what is expected.
func checkAgainst(v verdict, want catalogue.Expectation) cell {
	c := cell{got: describe(v), want: true}
	if v.failure == nil {
		c.want = want.Answer && (want.Text == "" || v.text == want.Text)
		return c
	}
	f := v.failure
	c.want = string(f.Kind) == want.Kind &&
		(want.Retryable == nil || f.Retryable == *want.Retryable) &&
		(want.Wait == nil || f.RetryAfter.Duration() == *want.Wait) &&
		(want.ResetsAt.IsZero() || f.ResetsAt.Equal(want.ResetsAt))
	return c
}

// describe describes an outcome in short.
func describe(v verdict) string {
	if v.failure == nil {
		return fmt.Sprintf("answer %q", v.text)
	}
	return inShort(string(v.failure.Kind), v.failure.Retryable, v.failure.RetryAfter.Duration())
}

func inShort(kind string, retryable bool, wait time.Duration) string {
	text := kind
	if !retryable {
		text += ", no retry"
	}
	if wait > 0 {
		text += ", after " + words.Duration(wait)
	}
	return text
}

func wanted(e catalogue.Expectation) string {
	if e.Answer {
		return catalogue.Answer
	}
	text := e.Kind
	if e.Retryable != nil && !*e.Retryable {
		text += ", no retry"
	}
	if e.Wait != nil && *e.Wait > 0 {
		text += ", after " + words.Duration(*e.Wait)
	}
	if !e.ResetsAt.IsZero() {
		text += ", resets " + e.ResetsAt.Format(time.RFC3339)
	}
	return text
}

// readCorpora is how failure's own test classifies the corpora of real errors.
func readCorpora(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "failure", "testdata", "corpora.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// report is docs/faults.md.
func report(lines []line, corpora string) string {
	columns := append([]string{offline}, catalogue.Wires()...)
	right, cells := 0, 0
	var table strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&table, "| %s | %s | %s | %s |", l.name, strings.ReplaceAll(l.row.Provider, "*", "any"), l.row.Class, wanted(l.expect))
		for _, column := range columns {
			c, played := l.cells[column]
			switch {
			case !played:
				table.WriteString(" |")
				continue
			case c.want:
				right++
				table.WriteString(" ✓ |")
			default:
				table.WriteString(" **" + c.got + "** |")
			}
			cells++
		}
		table.WriteString("\n")
	}
	var b strings.Builder
	b.WriteString("# The fault catalogue, and what Mulligan makes of it\n\n" +
		"`make classify-report` writes this page: it plays every row of the catalogue to the real runner over each wire that\n" +
		"the row is for, and classifies the row as it stands in the table beside it. A test fails when anything here changes.\n\n" +
		"Expected is the kind of failure, whether the same input may be sent again, and what the provider demands to be waited.\n" +
		"✓: exactly that became of it. An empty cell: the row is not for that wire. `mulligan faults list` tells each row's story,\n" +
		"`mulligan faults serve` plays it to your own agent.\n\n")
	fmt.Fprintf(&b, "**%d of %d right**, %d rows in %d scripts.\n\n", right, cells, len(catalogue.Rows()), len(lines))
	b.WriteString("| row | provider | fault | expected | " + strings.Join(columns, " | ") + " |\n|" + strings.Repeat("---|", 4+len(columns)) + "\n")
	return b.String() + table.String() + unseen + corpora
}

// unseen explains the tables of the corpora.
const unseen = `
## Errors that nobody has seen before

Providers word the same few things in ever new ways, so a table of known errors is no measure of what comes tomorrow. These
are corpora of real errors, each labelled by a reader with the kinds that are right for it before Mulligan was asked.
*Right at first sight* is what the rules made of them when they had never seen them: that is how well they generalise. *Right now*
holds for rules that have learned from them since, and only keeps what is known from getting lost.

A mistake is counted as dangerous where it does harm: what must not be repeated (auth, billing, invalid_request, content_filter)
taken for something that is tried again and again; what will pass (a timeout, a full server, a broken connection) given up; a
conversation that is too long taken for anything else, since it would loop. There may be none. ` + "`unknown`" + ` is no such mistake: it is tried once more.

How it is done: a code, a sentence or a status that is known decides first. What is left is read word by word: what it speaks of (money, a
key, a model, a connection, …) and what it says of that (it lacks, it is exceeded, it is gone, …), by stems of words in ten
languages and the commonest of twenty more, in the text and in codes such as ` + "`BILLING_PAUSED`" + `. ` + "`go doc ./failure`" + ` tells what counts more than what, and why.
` + "`mulligan explain`" + ` tells how sure it is: of a hundred unseen errors recognised in the same way, how many were so.
Where the rows of *fresh*, *sealed* and *unseen* came to one way often enough, that is the share that was right when they were first
run: a sentence 93 of 94 and loose words 58 of 59 (in *unseen*, with codes, 57 of 58), a status in a message 21 of 22, the status 69 of 79, a cause in any words 130 of 148. Of *fourth*, *fifth* and *sixth* the rules before them had a sentence 92 of 94,
loose words 33 of 34, a status in a message 14 of 14, the status 56 of 64, and a cause in any words 68 of 81. Of *seventh* and *eighth* a sentence was right 69 of 74
times, loose words 17 of 17, a status in a message 11 of 11, the status 18 of 22, and a cause in any words 75 of 91. For rarer ways it is what earlier harvests said.

*fresh* and *sealed* are one harvest of trackers, files and documents that is in none of the older corpora, cut in two by source; what was near to a row
that was known was left out. All of it was labelled, and committed in a commit of its own, before any rule was asked. The rules of that day
got 143 of 164 and 155 of 167 right: 90.0 % together, 10 of the mistakes dangerous. What was then learned from the first half, and from 400 sentences made up for the purpose, was run
once on the second: 155 again, with the same twelve mistakes, so that nothing shows the new rules to be better on errors that they have not seen. One
person made the rules and the labels. The aim, 95 % and no dangerous mistake at first sight, is missed.

*unseen* is a later harvest, of 142 trackers, documents and files that are in none of the others; 127 of its 235 rows are not English. Before it was gathered the grammar had been widened by design, with 985
sentences made up of what libraries, providers and fourteen languages say (those that were then right are *wordings*, a test and no measure). Its labels and their reasons were committed
before any rule was asked. Then 188 were right, 6 of the mistakes dangerous: 92 of 108 in English, 96 of 127 in other languages. The rules before that widening had 186 and 7, so
that it did next to nothing for errors from elsewhere. Of the 47 mistakes 23 were ` + "`unknown`" + `, and a whole script was missing: traditional Chinese.

Then the words and causes were widened once more, this time by real sentences: what one chat program says of its errors in eighteen languages (1659 sentences of which the name of each says
what is meant; they are its own and not kept here). The rules had 972 of them right (58.6 %), 67 of the mistakes dangerous; what was learned from them has 1493 (90.0 %) and 4, changes no row of
the corpora below, and adds Bulgarian, Arabic and Persian. *third*, gathered afterwards from
53 sources that are in none of the others and committed with its labels and their reasons before any rule was asked, says what that is worth for errors from elsewhere: 129 of its 152 errors were
right (84.9 %; 55 of 65 in English, 74 of 87 in Portuguese, Korean, Russian, Japanese, Chinese, French and Polish), 2 of the mistakes dangerous, and 129 and the same two by the rules before.
In the languages that had been read best before, nothing was gained; of those that were added, it has no rows. Of the 23 mistakes 11 were ` + "`unknown`" + `. The aim is missed still.

What providers write down is no matter of luck: *documented* is a table of 712 errors that 38 providers, gateways and servers of models document (their codes and types with the status of each, their
stop reasons; where a document gives a code alone, the message is a stand-in), written by hand with the kinds that follow from the documents before any rule was asked. Then 666 were right (93.5 %), 18 of the
mistakes dangerous: accounts that are locked came as a 429, an error told in a 200 with a number of the provider's own was no error, a 501 was asked again, a code such as ` + "`server_error`" + ` beat the words that said what was
wrong with the request. Now 706 are right and none of the mistakes is dangerous; a test names the six and says why each is left (` + "`go test ./failure -run TestDocumented`" + `).

*fourth* and *fifth* are harvests of the population that matters here: agents, gateways, and the libraries below them, nearly all in English, of 38 and 54 sources. Each was committed with its labels and their
reasons before any rule was asked. *fourth*: 152 of 168 (90.5 %), 3 dangerous. Then it, *documented* and 279 sentences made up of what such programs
say were learned from. *fifth*, afterwards: 123 of 138 (89.1 %), none dangerous, where the rules before all that have 122 and none. So what was learned is right of what is documented, and
hardly better for sentences of other hands. After that, words got the other forms in which people write them, and addresses no longer count as words. *sixth* is small and was harder: what clients and gateways say of their own, 48 rows. 33 were right at first sight (68.8 %), 5 of the mistakes dangerous, and by
the rules before as many and the same: an answer that a decoder could not read was taken for a refused request, and a status in Chinese was not seen. Eleven of the 15 mistakes of *fifth* were ` + "`unknown`" + `,
and six of the 15 of *sixth*. The aim, 98 % of catalogued faults and 95 % of messages with no dangerous mistake at first sight, is missed: what is documented is within reach of it, free text is not.

*seventh* was gathered to be like the given messages: how other agents' own tests and the trackers of agents and gateways tell errors, 198 of them from 124 files and threads, stratified by the kinds of
the given ones, a fifth not English. What descends from the program whose tests are given was left out, since the half that is kept aside is from there. 168 were right at first sight (84.8 %), 7 of the mistakes
dangerous, 11 ` + "`unknown`" + `; the rules before *fourth* had 166 and 7. All of it was then learned by mechanism: the verb of answering is the answer (“the model answered wrongly” is no wrong model), an answer
that lacks something or fails a check is no refused request, what a sentence denies (“not a rate limit”) is no evidence, a 504 is read word by word, a setting that is named after the context is no overflow,
a limit that is reached counts more than a 503, the name ` + "`BadRequestError`" + ` says nothing. *eighth*, afterwards: 54 of 64 (84.4 %), 2 dangerous, where the rules before had 53 and the same two.
Then 60 sentences were made up about a context that is too small and 109 about the other kinds, as a stranger might say them: the rules that had learned from everything so far had 37 of the 60 and 91 of the 109.
So the grammar still had holes in what is commonest and must not be missed; they are closed, and the sentences are among *wordings*. *ninth*, afterwards: 35 of 39 (89.7 %), 1 dangerous, and as many by the rules before.
Three small steps of one or none in a hundred: mechanisms close what is known to be open, and each new harvest finds other holes of the same size.

*tenth* was gathered to be unlike what had been read: the documents of small gateways and forums, what apps of all countries tell their users, and trackers of agents and servers; 187 errors of 114 sources, half of
them not English. The rules of that day had 136 right (72.7 %), 3 of the mistakes dangerous. Before anybody looked at which, three tables were made, exhaustive by intent where sentences had been met by chance: 22 things that
programs say of a failed call in 28 languages (462 sentences; the rules had 269 of them right), those and more said otherwise in English and eleven languages (267; 172), and the names that libraries of HTTP and TLS, systems and clouds
give their errors (384; 312). Of the 193 misses of the first, 76 were in languages that nobody had read: Czech, Hungarian, Romanian, Finnish, Greek, Hebrew, Hindi, Thai. With all that was learned from the tables (450, 261 and 374 now; what is right is among *wordings*; Hindi and Thai are
not read) 143 of *tenth* were right at first sight (76.5 %), and the same three dangerous. So a table of one hand, however complete, gains four in a hundred on sentences of others. Of the 44 mistakes 24 were words in another language, 6 words
in English, 8 pairs of words, 5 a status that counted for more than the words, 1 a sense. Then it was learned from, by mechanism where there was one: what an app says of an answer (unreadable, empty, cut) counts more than its own 500 or 502, the
settings of a model are no model, and JSON that was not found is none either. *eleventh*, gathered after that and committed before any rule was asked: 59 of 68 (86.8 %), none dangerous, where the rules of before *tenth* had 53 (77.9 %).
Hindi and Thai are read by now (the marks of their vowels parted every word): of 52 sentences made up in them 1 was right before, all are now, which measures nothing.
The same person gathered the two, labelled them and made the tables. What may be expected of such errors, apps' own words in any language, is 80 to 87 %; of agents, gateways and providers in English what is said above.

What the mistakes at first sight were, of the first nine corpora whose list of them is kept (205 of 1500; a reader's judgement, one cause each):

| why | mistakes | what answers it |
|---|---|---|
| words in another language that the lexicon had not | 41 | the lexicon; it grows by what is met |
| words in English that it had not | 36 | the same |
| words that it had, in a pair that was no cause, or a pair of another subject that was nearer | 49 | the grammar of causes |
| a status or a general code counted for more than the words beside it | 37 | which causes stand over which statuses |
| a word of another sense, or one that is denied (a balance of accounts, a budget of tokens, “not high demand”) | 17 | phrases, denials |
| what is inside was not read: JSON in a sentence, a code in brackets, a number as a status | 13 | unwrapping |
| a library's or a provider's own name for it | 8 | tables |
| the label was narrower than the given file's | 4 | |

A stricter label than the given file's makes a mistake of what is none there: the given rows take ` + "`overloaded`" + ` and ` + "`unavailable`" + ` for one thing, and so ` + "`timeout`" + `, ` + "`unreachable`" + `, ` + "`stream_interrupted`" + `
and ` + "`unavailable`" + `, ` + "`quota`" + ` and ` + "`rate_limit`" + `, ` + "`billing`" + ` and ` + "`quota`" + `. By that practice 25 of the 205 would be right: 88.0 % instead of 86.3 % of the nine, 87.4 % of *seventh*. *fourth* to *eighth*, weighted by how often
the given file has each kind, come to 92 % (89 % by their own labels): what may be expected of errors like the given ones. No label was changed for that. One was for its own sake: ` + "`额度不足`" + ` in *seventh*, which the given file calls
billing, too; at first sight it counts as the mistake that it was.

*twelfth* was gathered to be like the given ones: 177 messages of 74 tests and threads of agents, gateways and wrappers of CLIs, all but 18 in English. Before it was gathered, what programs put around a message had been
made to say nothing (below), and pairs of an English subject and what is said of it had been gone through: of 736 the rules had 576 right, 729 then. 158 of *twelfth* were right at first sight (89.3 %), 1 of the mistakes
dangerous, and the rules before had as many, and the same nineteen wrong: that work gains nothing on messages that stand by themselves. Twelve of the 19 were ` + "`unknown`" + `: ` + "`not signed in`" + `, ` + "`improperly formed`" + `, ` + "`exited`" + ` said of an agent.

*thirteenth* is 193 messages of 107 files and threads that are in none of the others: runners of agents, what they make of their CLIs, and small apps; 53 of them not English. 167 were right at first sight (86.5 %; 118 of 140 in
English, 49 of 53 in other languages), 1 of the mistakes dangerous: an account in debt, told in Chinese with a 503. Of the 26 mistakes 8 were a status that counted for more than the words, 8 words in English that no table had, 5 another sense,
a guess or a denial (` + "`(not your usage limit)`" + `), 3 a pair, 1 a word in another language, 1 a status that was not read (` + "`falhou (429)`" + `). Ten were ` + "`unknown`" + `. What has a mechanism was learned: debts are a lack of money in nine languages, a status in brackets is read after
a word of failing in eight more, a stream that broke ` + "`mid-answer`" + ` was open, an output that fails its check counts more than an app's own 500. Of 32 sentences made up about these the rules before had 15 right; all are now.

*fourteenth* is 174 messages of 129 files, threads and documents that are in none of the others: the clients that small programs wrote themselves, the tests of their classifiers, and the documents of gateways; 67 of them not English. 142 were right at
first sight (81.6 %; 83 of 107 in English, 59 of 67 in other languages), 6 of the mistakes dangerous, and by the rules before as many, and the same: four times a conversation that is too long (` + "`model requires a larger context`" + `,
` + "`not enough tokens to keep`" + `, ` + "`exceeds the limit of 128000`" + `, ` + "`request over its limit`" + `), an answer that failed its check, told with a 422, and a key of the app's own that was refused, told with a 500. Of the 32 mistakes 9 were words in English that no table
had, 8 another sense, a guess or a denial (` + "`(no API key needed)`" + `), 6 words in another language, 5 a pair, 2 a status that counted for more than the words, 2 a status that was not read (` + "`http_500`" + `). Twenty were ` + "`unknown`" + `. What was learned:
one request is measured by its size where requests are counted, a limit that is the size of a model's context is no rate, the verb tells who answered wrongly (` + "`the planner returned malformed steps`" + `) whatever status an app gives that, a key that was not accepted counts more
than a 500, a library that is missing is a setting, a part that is empty is no empty answer, a reason to stop in brackets is read, a status is read after an underscore and after the noun of a request or an answer. Of 41 sentences made up about these the rules before had 11 right, 6 of the mistakes dangerous; all are now.
The aim is missed still, and by more than with most of those before: what small programs say of their own is worded in ever new ways.

*fifteenth* is 192 messages of 118 files, threads and documents: the tests with which large agents and gateways check their own classifiers, trackers, and gateways' documents; 55 of them not English, and what was near to a row that was known was
left out. 174 were right at first sight (90.6 %; 125 of 137 in English, 49 of 55 in other languages), 5 of the mistakes dangerous: a prompt measured in bytes, a filter told by a code alone, a key refused behind ` + "`Failed to load models`" + `, a history that a router
refused with a 500 and its reason in ` + "`details`" + `, a request that failed its check, told in Spanish. Of the 18 mistakes 6 were words in another language, 4 words in English that no table had, 3 another subject that was nearer, 2 the words of a code, 2 what was not read, 1 a status that counted
for more than the words. Eight were ` + "`unknown`" + `. What was learned: a bound and a larger number of tokens are a prompt that is too long, in whatever words they are told (sizes.go), text is measured in bytes and characters, too, reasoning that does not come back is a history, what moderates may fail
itself, what stands behind a list of models that could not be loaded decides, a status is read after an underscore, and an answer's tokens are no prompt's. Of 862 sentences made up the way agents' tests tell errors the rules before had 677 right, 41 of the mistakes dangerous; 846 are right
now, none of the mistakes dangerous. Those that were wrong before and are right now are among *wordings*. The last 260 of them were made up after most of that was learned, and had 213 right at first sight (81.9 %), where the rules before had 212: what a stranger says in four words is still the weakness.
Of 241 code words in seven ways of writing them (1687 messages) the rules had 1581 right at first sight, of another 65 in four ways (260) 223; they have 1635 and 254 now.
The last 80 sentences were as odd as could be thought of (` + "`Only 3 requests every 20 seconds on the trial plan`" + `): the rules had 51 right at first sight (63.8 %), 75 now; of 44 more, made up to check what was learned of those, 39 at first sight and 41 now, where the rules before had 21. A code is read behind ` + "`code=` and `code: `" + `, too.

What programs put around a message is measured without new labels: the messages of *given*, *yours* and *fourth* to *ninth* that are right by themselves (1597) are passed on in 133 ways, behind ` + "`Failed after 3 attempts. Last error:`" + `,
before an id, in JSON in a string, with the status told in words, as gRPC, AWS, Java, Python and Rust print errors, over broken lines: 173,744 messages. Of these 1980 (of 173,531 that were right by themselves then) got another
kind, 533 of them dangerously; 339 and 33 do now, and failure/testdata/perturbed.md tells in which way. The heads that only say that something failed are left out, and what stands behind them is read; they are read, too, where that says nothing.

A model of the letters was tried three times for what the rules call ` + "`unknown`" + `, and is not built. Honest is only what rules say of errors that came after them, so it was done as it would have been at the time: the rules of
a day, a model trained on the corpora of that day alone, and the errors of all corpora that came later and that those rules knew nothing of. Logistic regression over pieces of two to five letters and words of one or two;
*gain* is what becomes right less what was rightly ` + "`unknown`" + ` and is spoiled.

| rules and model of | errors after them | left to the model | it answers all: right, dangerous | confidence 0.5: answers, right, dangerous, gain | confidence 0.6: answers, right, dangerous, gain |
|---|---|---|---|---|---|
| before *fresh* | 1368 | 126 | 56, 31 | 23, 18, 1, +15 (1.1 %) | 13, 12, 0, +11 (0.8 %) |
| before *fourth* | 552 | 37 | 20, 6 | 10, 8, 0, +8 (1.4 %) | 6, 6, 0, +6 (1.1 %) |
| before *seventh* | 198 | 17 | 9, 3 | 4, 3, 0, +1 (0.5 %) | 1, 1, 0, +1 (0.5 %) |

The nearest neighbour answers 43 of the 126 where the cosine is 0.4 or more: 15 right, 9 dangerous. A guard that weighs what each answer would do if another kind were right is no better than the confidence (+7, +3 and +1
without a dangerous mistake). With the words taken away by which the rules know an error (2327 rows so masked, the model trained on the other sources), it is right about 331 of the 420 that it answers with a confidence of 0.6, and dangerously
wrong about 29. Two in a hundred would have paid for up to 256 KiB in three languages; without harm it is one, and less the more the rules know. What is ` + "`unknown`" + ` is tried once more, and harms nobody.

It was tried once more with each corpus from *blind* to *twelfth* left out in turn, and trained on all the others, what is documented and the catalogue, in a hashed table of 16384 pieces by kind (256 KiB in bytes): 127 of the 2035 rows were wrongly ` + "`unknown`" + ` at first sight, 7.0 in a hundred of each of the last six,
which is the most that there is to gain. Averaged over these six, logistic regression gains 0.8 points where it is sure by half (4 dangerous mistakes), 0.5 by six tenths (1) and none without a dangerous one; naive Bayes 0.5 by nine tenths (1), and the nearest neighbour 0.8 from a cosine of 0.5 (none). 2.5 without one would have paid for it.

How fast that is differs by machine, so it is printed and not written down: ` + "`make classify-report`" + ` says how long a message takes, and
` + "`go test ./failure -run XXX -bench Classify`" + ` how long 4 KiB do.

`
