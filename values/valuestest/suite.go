package valuestest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mulligan-run/mulligan/values"
)

// Store checks what values.Store promises; one and two are the same store, as opened by two
// processes.
func Store(t *testing.T, one, two values.Store) {
	t.Run("compare and set", func(t *testing.T) { compareAndSet(t, one, two) })
	t.Run("add", func(t *testing.T) { add(t, one, two) })
	t.Run("side by side", func(t *testing.T) { sideBySide(t, one, two) })
	t.Run("list", func(t *testing.T) { list(t, one) })
	t.Run("limits", func(t *testing.T) { limits(t, one) })
}

func compareAndSet(t *testing.T, one, two values.Store) {
	ctx, none := t.Context(), int64(0)
	if value, version, err := one.GetValue(ctx, "p", "cas"); value != nil || version != 0 || err != nil {
		t.Fatalf("nothing is %q, %d, %v", value, version, err)
	}
	done, first, err := one.SetValue(ctx, "p", "cas", []byte("a\x00b"), &none)
	if !done || first <= 0 || err != nil {
		t.Fatal(done, first, err)
	}
	if done, at, err := two.SetValue(ctx, "p", "cas", []byte("late"), &none); done || at != first || err != nil {
		t.Fatal("it was there already:", done, at, err)
	}
	if value, at, err := two.GetValue(ctx, "p", "cas"); string(value) != "a\x00b" || at != first || err != nil {
		t.Fatalf("%q, %d, %v", value, at, err)
	}
	if value, _, err := two.GetValue(ctx, "other", "cas"); value != nil || err != nil {
		t.Fatalf("another plugin reads %q, %v", value, err)
	}
	if done, err := two.DeleteValue(ctx, "p", "cas", &none); done || err != nil {
		t.Fatal("another version was deleted:", done, err)
	}
	if done, err := two.DeleteValue(ctx, "p", "cas", &first); !done || err != nil {
		t.Fatal(done, err)
	}
	if done, err := two.DeleteValue(ctx, "p", "cas", nil); !done || err != nil {
		t.Fatal("what is not there is deleted:", done, err)
	}
	if done, at, err := one.SetValue(ctx, "p", "cas", nil, &none); !done || at <= first || err != nil {
		t.Fatalf("a version came back: %d after %d, %v, %v", at, first, done, err)
	}
	if value, _, err := one.GetValue(ctx, "p", "cas"); value == nil || len(value) > 0 || err != nil {
		t.Fatalf("an empty value is %v, %v", value, err)
	}
}

func add(t *testing.T, one, two values.Store) {
	ctx := t.Context()
	for i, c := range []struct{ amount, want int64 }{{0, 0}, {5, 5}, {-7, -2}, {math.MaxInt64, math.MaxInt64 - 2}} {
		if sum, err := one.AddValue(ctx, "p", "sum", c.amount); sum != c.want || err != nil {
			t.Fatal(i, sum, err)
		}
	}
	if _, err := two.AddValue(ctx, "p", "sum", 3); !errors.Is(err, values.ErrNoNumber) {
		t.Error("too much:", err)
	}
	if value, _, err := two.GetValue(ctx, "p", "sum"); string(value) != "9223372036854775805" || err != nil {
		t.Errorf("%q, %v", value, err)
	}
	for _, word := range []string{"word", "1.5", "07", " 1", ""} {
		if _, _, err := one.SetValue(ctx, "p", "word", []byte(word), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := one.AddValue(ctx, "p", "word", 1); !errors.Is(err, values.ErrNoNumber) {
			t.Errorf("%q: %v", word, err)
		}
	}
}

// sideBySide adds and compares-and-sets from many goroutines in two processes.
func sideBySide(t *testing.T, one, two values.Store) {
	ctx := t.Context()
	const workers, each = 8, 10
	var group sync.WaitGroup
	for w := range workers {
		s := []values.Store{one, two}[w%2]
		group.Go(func() {
			for range each {
				if _, err := s.AddValue(ctx, "p", "count", 1); err != nil {
					t.Error(err)
				}
				for done := false; !done; {
					value, version, err := s.GetValue(ctx, "p", "list")
					if err == nil {
						done, _, err = s.SetValue(ctx, "p", "list", append(bytes.Clone(value), 'x'), &version)
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	group.Wait()
	if sum, err := two.AddValue(ctx, "p", "count", 0); sum != workers*each || err != nil {
		t.Errorf("counted %d of %d, %v", sum, workers*each, err)
	}
	if value, _, err := one.GetValue(ctx, "p", "list"); len(value) != workers*each || err != nil {
		t.Errorf("%d of %d were appended, %v", len(value), workers*each, err)
	}
}

func list(t *testing.T, one values.Store) {
	ctx := t.Context()
	want := []string{"a/%", "a/1", "a/Ä", "a/世"}
	for _, key := range append([]string{"A/1", "b"}, want...) {
		if _, _, err := one.SetValue(ctx, "lists", key, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if keys, err := one.ListValues(ctx, "lists", "a/", ""); !slices.Equal(keys, want) || err != nil {
		t.Errorf("%q, %v", keys, err)
	}
	if keys, err := one.ListValues(ctx, "lists", "a/", "a/1"); !slices.Equal(keys, want[2:]) || err != nil {
		t.Errorf("%q, %v", keys, err)
	}
	if keys, err := one.ListValues(ctx, "lists", "", ""); len(keys) != 6 || err != nil {
		t.Errorf("%q, %v", keys, err)
	}
}

func limits(t *testing.T, one values.Store) {
	ctx := t.Context()
	for _, key := range []string{"", strings.Repeat("k", values.MaxKey+1), "\xff", "a\x00b"} {
		if _, _, err := one.SetValue(ctx, "p", key, nil, nil); !errors.Is(err, values.ErrMalformed) {
			t.Errorf("key %.20q: %v", key, err)
		}
	}
	if _, _, err := one.SetValue(ctx, "p", "big", make([]byte, values.MaxValue+1), nil); !errors.Is(err, values.ErrMalformed) {
		t.Error(err)
	}
	if testing.Short() {
		t.Skip("-short: 64 MiB are not written")
	}
	room := int64(values.MaxBytes)
	big := make([]byte, values.MaxValue)
	for i := 0; ; i++ {
		key := fmt.Sprintf("%04d", i)
		_, _, err := one.SetValue(ctx, "full", key, big, nil)
		if room -= values.Size(key, big); room < 0 {
			if !errors.Is(err, values.ErrFull) {
				t.Errorf("value %d, beyond the limit: %v", i, err)
			}
			break
		}
		if err != nil {
			t.Fatal(i, err)
		}
	}
	if _, err := one.DeleteValue(ctx, "full", "0000", nil); err != nil {
		t.Fatal(err)
	}
	if done, _, err := one.SetValue(ctx, "full", "again", big[:1000], nil); !done || err != nil {
		t.Error("there is room again:", done, err)
	}
}
