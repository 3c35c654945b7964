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
	r := sse.NewReader(src)
	var said []string
	for {
		event, err := r.Next()
		if err != nil {
			return strings.Join(said, " "), err
		}
		said = append(said, spell(event))
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
		r := sse.NewReader(here)
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
		if _, err := push(in, 1000); !errors.Is(err, sse.ErrTooLarge) {
			t.Errorf("%s, pushed: %v", name, err)
		}
	}
	large := strings.Repeat("x", 3<<20)
	if got, _ := read(strings.NewReader("data: " + large + "\n\n")); got != "="+large {
		t.Error("an event of 3 MiB was not read")
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
