package sse_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mulligan-run/mulligan/provider/internal/sse"
)

// read spells a stream out: name=data for an event, "." for a sign of life.
func read(src io.Reader) (string, error) {
	said, _, err := readRaw(src, false)
	return said, err
}

// readRaw is read, and what was told of the bytes themselves.
func readRaw(src io.Reader, keep bool) (spelt string, raw []byte, err error) {
	r := sse.NewReader(src, keep)
	var said []string
	for {
		event, err := r.Next()
		if err != nil {
			return strings.Join(said, " "), append(raw, r.Rest()...), err
		}
		said, raw = append(said, spell(event)), append(raw, event.Raw...)
	}
}

// push spells out what is pushed, size bytes at a time.
func push(in string, size int) (string, error) {
	var (
		p    sse.Parser
		said []string
	)
	for chunk := range slices.Chunk([]byte(in), size) {
		err := p.Push(chunk, func(event sse.Event) error {
			said = append(said, spell(event))
			return nil
		})
		if err != nil {
			return strings.Join(said, " "), err
		}
	}
	return strings.Join(said, " "), nil
}

func spell(event sse.Event) string {
	if event.Idle {
		return "."
	}
	return string(event.Name) + "=" + string(event.Data)
}

func TestGrammar(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"LF", "event: a\ndata: 1\n\n", "a=1"},
		{"CRLF", "event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", "a=1 =2"},
		{"CR", "event: a\rdata: 1\r\rdata: 2\r\r", "a=1 =2"},
		{"mixed", "data: 1\r\ndata: 2\rdata: 3\n\r\n", "=1\n2\n3"},
		{"mark", "\xEF\xBB\xBFdata: 1\n\n", "=1"},
		{"mark only once", "data: 1\n\n\xEF\xBB\xBFdata: 2\n\n", "=1 ."},
		{"no space", "data:1\n\ndata:  2\n\n", "=1 = 2"},
		{"empty data", "data\n\ndata:\n\n", "= ="},
		{"two lines", "data: a\ndata:\ndata: b\n\n", "=a\n\nb"},
		{"comment", ": hi\n\ndata: 1\n\n", ". =1"},
		{"comment within", "event: a\n: hi\ndata: 1\n\n", ". a=1"},
		{"no data", "event: a\nid: 7\n\ndata: 1\n\n", ". =1"},
		{"unknown field", "retry: 5\nx: y\ndata: 1\n\n", "=1"},
		{"blank lines", "\n\n\r\n\ndata: 1\n\n\n", "=1"},
		{"cut within", "data: 1\n\ndata: 2\n", "=1"},
		{"cut within a line", "data: 1\n\ndata: 2", "=1"},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, src := range []io.Reader{
				strings.NewReader(c.in),
				iotest.OneByteReader(strings.NewReader(c.in)),
				iotest.DataErrReader(strings.NewReader(c.in)),
			} {
				if got, err := read(src); got != c.want || !errors.Is(err, io.EOF) {
					t.Errorf("read %q, %v; want %q", got, err, c.want)
				}
			}
			for _, size := range []int{1, 3, 1 << 20} {
				if got, err := push(c.in, size); got != c.want || err != nil {
					t.Errorf("pushed %d at a time: %q, %v; want %q", size, got, err, c.want)
				}
			}
		})
	}
}

func TestEventIsReadAsSoonAsItIsThere(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\r", "\r\n\r\n"} {
		here, there := io.Pipe()
		r := sse.NewReader(here, false)
		go func() { _, _ = io.WriteString(there, "data: 1"+end) }()
		if event, err := r.Next(); err != nil || string(event.Data) != "1" {
			t.Errorf("%q: %q, %v", end, event.Data, err)
		}
		_ = there.Close()
	}
}

func TestTooLarge(t *testing.T) {
	for name, in := range map[string]string{
		"line":  "data: " + strings.Repeat("x", 2*sse.MaxSize) + "\n\n",
		"event": strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 5) + "\n",
	} {
		if _, err := read(strings.NewReader(in)); !errors.Is(err, sse.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := readRaw(strings.NewReader(in), true); !errors.Is(err, sse.ErrTooLarge) {
			t.Errorf("%s, kept: %v", name, err)
		}
		if _, err := push(in, 1000); !errors.Is(err, sse.ErrTooLarge) {
			t.Errorf("%s, pushed: %v", name, err)
		}
	}
	large := strings.Repeat("x", 3<<20)
	for _, keep := range []bool{false, true} {
		if got, raw, _ := readRaw(strings.NewReader("data: "+large+"\n\n"), keep); got != "="+large || keep && len(raw) != len(large)+8 {
			t.Errorf("of an event of 3 MiB %d bytes were read (kept: %t)", len(got), keep)
		}
	}
}

func TestPushStopsWhereItIsTold(t *testing.T) {
	var p sse.Parser
	enough, n := errors.New("enough"), 0
	err := p.Push([]byte("data: 1\n\ndata: 2\n\n"), func(sse.Event) error { n++; return enough })
	if !errors.Is(err, enough) || n != 1 {
		t.Error(n, err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("event: a\r\ndata: 1\r\rdata: 2\n\n: c\n"), byte(3))
	f.Add([]byte("\xEF\xBB\xBFdata\n\n"), byte(1))
	f.Fuzz(func(t *testing.T, in []byte, size byte) {
		whole, err := read(bytes.NewReader(in))
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		pieces, _ := read(&chunks{in, int(size)%7 + 1})
		if whole != pieces {
			t.Fatalf("whole %q, in pieces %q", whole, pieces)
		}
		for _, src := range []io.Reader{bytes.NewReader(in), &chunks{in, int(size)%7 + 1}} {
			if kept, raw, _ := readRaw(src, true); kept != whole || !bytes.Equal(raw, in) {
				t.Fatalf("%q is kept as %q, and said to be %q", in, raw, kept)
			}
		}
		if pushed, err := push(string(in), int(size)%7+1); pushed != whole || err != nil {
			t.Fatalf("whole %q, pushed %q, %v", whole, pushed, err)
		}
	})
}

// chunks gives out its bytes a few at a time.
type chunks struct {
	rest []byte
	size int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.rest[:min(c.size, len(c.rest))])
	c.rest = c.rest[n:]
	return n, nil
}

// TestKeptAsItCame: what is kept of events is, put together, all that came up to the last of them.
func TestKeptAsItCame(t *testing.T) {
	for in, want := range map[string][]string{
		"event: a\ndata: 1\n\n: hi\n\ndata: 2\n\ndata: 3\n": {"event: a\ndata: 1\n\n", ": hi\n", "\ndata: 2\n\n"},
		"\xEF\xBB\xBFdata: 1\r\n\r\ndata: 2\r\n\r\n":        {"\xEF\xBB\xBFdata: 1\r\n\r\n", "data: 2\r\n\r\n"},
		"event: a\n: hi\nid: 7\ndata: 1\n\n":                {"", "event: a\n: hi\nid: 7\ndata: 1\n\n"},
		"data: 1\r\rdata: 2\r\r":                            {"data: 1\r\r", "data: 2\r\r"},
	} {
		r := sse.NewReader(strings.NewReader(in), true)
		var got []string
		for {
			event, err := r.Next()
			if err != nil {
				break
			}
			got = append(got, string(event.Raw))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, not %q", in, got, want)
		}
		slow := sse.NewReader(iotest.OneByteReader(strings.NewReader(in)), true)
		var all string
		for {
			event, err := slow.Next()
			if err != nil {
				break
			}
			all += string(event.Raw)
		}
		if whole := strings.Join(want, ""); !strings.HasPrefix(whole, all) || len(whole)-len(all) > 1 { // the last \n of \r\n had not come
			t.Errorf("%q, byte by byte: %q", in, all)
		}
	}
	r := sse.NewReader(strings.NewReader(strings.Repeat("x: y\n", sse.MaxSize/5+1)), true)
	if _, err := r.Next(); !errors.Is(err, sse.ErrTooLarge) {
		t.Error(err)
	}
}

// TestRest: of a stream that is read to its end no byte is missing, however it is cut, and none
// comes twice. Where it goes on, the LF after the last CR is waited for, and nothing else.
func TestRest(t *testing.T) {
	for _, in := range []string{
		"data: 1\r\n\r\n", "data: 1\n\n", "data: 1\r\r", ": hi\r\n\r\ndata: 1\r\n\r\n", "data: 1\r\n\r\n\r\n", "data: 1\n\nda", "event: a\n: hi\ndata: 1\r\n\r\n", "",
	} {
		for name, src := range map[string]io.Reader{"whole": strings.NewReader(in), "bytes": iotest.OneByteReader(strings.NewReader(in)), "at once": iotest.DataErrReader(strings.NewReader(in))} {
			r := sse.NewReader(src, true)
			var got []byte
			event, err := r.Next()
			for ; err == nil; event, err = r.Next() {
				got = append(got, event.Raw...)
			}
			if got = append(got, r.Rest()...); string(got) != in {
				t.Errorf("%s: %q came as %q", name, in, got)
			}
		}
	}
	for in, want := range map[string]string{"data: 1\r\n\r\nrest": "data: 1\r\n\r\n", "data: 1\n\nrest": "data: 1\n\n", "data: 1\r\rrest": "data: 1\r\r"} {
		for name, src := range map[string]io.Reader{"whole": strings.NewReader(in), "bytes": iotest.OneByteReader(strings.NewReader(in))} {
			r := sse.NewReader(src, true)
			event, err := r.Next()
			got := string(event.Raw)
			if got += string(r.Rest()); got != want || err != nil {
				t.Errorf("%s: of %q came %q, %v", name, in, got, err)
			}
		}
	}
}

// TestMore: where a Reader says that more is there, Next needs no other byte for it; and it says so
// of whole events, however they arrive.
func TestMore(t *testing.T) {
	stream := "data: a\n\n\n\ndata: b\r\n\r\n: ping\n\nevent: x\ndata: c\n\nid: 7\n\ndata: d"
	for size := 1; size <= len(stream); size++ {
		src := &pieces{text: stream, size: size}
		r, told := sse.NewReader(src, false), 0
		for {
			more, before := r.More(), src.reads
			if _, err := r.Next(); err != nil {
				break
			}
			if more {
				if told++; src.reads != before {
					t.Fatalf("pieces of %d: more was there, and it read on", size)
				}
			}
		}
		if size == len(stream) && told < 3 {
			t.Errorf("all was there, and it said so of %d", told)
		}
	}
}

// pieces gives its text in pieces of that size.
type pieces struct {
	text        string
	size, reads int
}

func (p *pieces) Read(b []byte) (int, error) {
	p.reads++
	if p.text == "" {
		return 0, io.EOF
	}
	n := copy(b, p.text[:min(p.size, len(p.text))])
	p.text = p.text[n:]
	return n, nil
}
