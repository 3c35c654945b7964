package sqlite

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestPack(t *testing.T) {
	var p packer
	for name, c := range map[string]struct {
		lines  string
		packed bool
	}{
		"empty":             {"", false},
		"an event":          {`{"type":"began"}`, false},
		"a short run":       {strings.Repeat(`{"type":"began","model":"a/one"}`+"\n", 60), true},
		"as long as may be": {strings.Repeat("{", packTo), true},
		"longer":            {strings.Repeat("{", packTo+1), false},
	} {
		stored := p.pack([]byte(c.lines))
		if (len(stored) < len(c.lines)) != c.packed {
			t.Errorf("%s: %d bytes become %d", name, len(c.lines), len(stored))
		}
		if lines, err := unpack(stored); err != nil || string(lines) != c.lines {
			t.Errorf("%s: it is read as %.40q, %v", name, lines, err)
		}
	}
}

func TestDamagedPack(t *testing.T) {
	var p, longer packer
	stored := bytes.Clone(p.pack([]byte(strings.Repeat("{}", 1000))))
	bomb := append([]byte(nil), longer.pack(bytes.Repeat([]byte("{"), packTo))...)
	for name, damaged := range map[string][]byte{
		"cut":   stored[:len(stored)-3],
		"empty": {packed},
		"noise": append([]byte{packed}, 0xff, 0xff, 0xff),
	} {
		if lines, err := unpack(damaged); !errors.Is(err, errPacked) {
			t.Errorf("%s: it is read as %.40q, %v", name, lines, err)
		}
	}
	longer.out.Reset()
	longer.out.WriteByte(packed)
	longer.writer.Reset(&longer.out)
	_, _ = longer.writer.Write(bytes.Repeat([]byte("{"), 1<<20))
	_ = longer.writer.Close()
	if lines, err := unpack(longer.out.Bytes()); !errors.Is(err, errPacked) {
		t.Errorf("1 MiB is read as %d bytes, %v", len(lines), err)
	}
	if lines, err := unpack(bomb); err != nil || len(lines) != packTo {
		t.Errorf("%d bytes, %v", len(lines), err)
	}
}
