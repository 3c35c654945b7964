package main

import (
	"strings"
	"testing"
	"time"
)

func TestStampsAreFilledIn(t *testing.T) {
	text := []byte(stamped(3, 60))
	asked, sent := time.Unix(1_700_000_000, 1), time.Unix(1_700_000_000, 2)
	fill(text, markAsked, asked)
	fill(text, markSent, sent)
	words := strings.Fields(string(text))
	if len(words) != 3 || len(words[1]) != 59 {
		t.Fatalf("%d words: %q", len(words), words)
	}
	if at, ok := stamp(words[0], markAsked); !ok || !at.Equal(asked) {
		t.Errorf("asked %v, %v", at, ok)
	}
	if at, ok := stamp(words[0], markSent); !ok || !at.Equal(sent) {
		t.Errorf("sent %v, %v", at, ok)
	}
	if _, ok := stamp("no stamp", markSent); ok {
		t.Error("a stamp where there is none")
	}
}

func TestBusiestSecond(t *testing.T) {
	begin := time.Unix(1_700_000_000, 0)
	var moments []time.Time
	for _, ms := range []int{3000, 0, 999, 1000, 1998, 1999, 5000} {
		moments = append(moments, begin.Add(time.Duration(ms)*time.Millisecond))
	}
	if n := busiest(moments); n != 3 { // 999, 1000 and 1998
		t.Errorf("%d in the busiest second", n)
	}
}

func TestMessagesAreRead(t *testing.T) {
	const stream = ": welcome\n\nid: 7\nevent: event\ndata: {\"a\": 1}\n\nevent: end\ndata: {}\n\nevent: half"
	var read []string
	for m, err := range messages(strings.NewReader(stream)) {
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, m.kind+string(m.data))
		if m.kind == "event" && m.id != 7 {
			t.Errorf("its id is %d", m.id)
		}
	}
	if got := strings.Join(read, " "); got != `event{"a": 1} end{}` {
		t.Errorf("got %s", got)
	}
}

// TestAFollowerMinds: a follower reports every error that no load excuses.
func TestAFollowerMinds(t *testing.T) {
	w := &wrongs{}
	f := &follower{wrong: w, run: "r1"}
	for _, id := range []uint64{1, 2, 2, 4} {
		if err := f.hear(message{id: id, kind: "event"}); err != nil {
			t.Fatal(err)
		}
	}
	if n, told := w.all(); n != 2 {
		t.Errorf("a repeat and a gap are %d wrongs: %q", n, told)
	}
}

// TestTrend: a value that oscillates and grows by 3 in a minute.
func TestTrend(t *testing.T) {
	grows, stays := trend{}, trend{}
	for second := range 120 {
		at, noise := time.Duration(second)*time.Second, float64(second%2)
		grows.add(at, 100+3*at.Minutes()+noise)
		stays.add(at, 100+noise)
	}
	if slope := grows.slope(); slope < 2.9 || slope > 3.1 {
		t.Errorf("it grows by %.2f in a minute", slope)
	}
	if l := stays.flat("it"); l[4] != "met" {
		t.Errorf("what stays is told as %q", l)
	}
	for second := range 120 {
		stays.add(time.Duration(120+second)*time.Second, 100+float64(second))
	}
	if l := stays.flat("it"); l[4] != "MISSED" {
		t.Errorf("what doubles is told as %q", l)
	}
}
