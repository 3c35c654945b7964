package values

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Limits on what a plugin may keep.
const (
	MaxKey   = 200      // bytes
	MaxValue = 64 << 10 // bytes
	MaxBytes = 64 << 20 // of all keys and values of a plugin, plus Overhead for each
	MaxKeys  = 1000     // in one page of ListValues
	overhead = 64       // bytes counted for a value in addition to its key and content
)

var (
	// ErrFull says that the plugin's values would take more than MaxBytes.
	ErrFull = errors.New("the plugin's values would take more than 64 MiB: delete some")
	// ErrNoNumber says that a value is not a whole number, or that a sum does not fit into
	// 64 bits.
	ErrNoNumber = errors.New("the value is not a whole number, or the sum would not fit into 64 bits")
	// ErrMalformed says that a key or a value is invalid.
	ErrMalformed = errors.New("a key has 1 to 200 bytes of UTF-8 without a zero byte, and a value at most 64 KiB")
)

// Store keeps values, each under its plugin and its key. A value's version grows with every change;
// version 0 means that there is no value. A Store is safe for concurrent use, and several processes
// may share one.
type Store interface {
	// GetValue returns a value and its version.
	GetValue(ctx context.Context, plugin, key string) (value []byte, version int64, err error)
	// SetValue writes a value: always if expected is nil, otherwise only if the current version
	// is *expected. If it is not, done is false and version is the current one. Error: ErrFull.
	SetValue(ctx context.Context, plugin, key string, value []byte, expected *int64) (done bool, version int64, err error)
	// AddValue adds to a number in decimal digits, which counts as 0 if there is none. Errors:
	// ErrNoNumber, ErrFull.
	AddValue(ctx context.Context, plugin, key string, amount int64) (sum int64, err error)
	// DeleteValue removes a value: always if expected is nil, otherwise only that version.
	DeleteValue(ctx context.Context, plugin, key string, expected *int64) (done bool, err error)
	// ListValues returns the keys that begin with prefix and come after the key after, in byte order:
	// at most MaxKeys+1, so that one too many shows that there are more.
	ListValues(ctx context.Context, plugin, prefix, after string) ([]string, error)
}

// Check says why a key, or a value under it, is invalid.
func Check(key string, value []byte) error {
	if key == "" || len(key) > MaxKey || !utf8.ValidString(key) || len(value) > MaxValue {
		return ErrMalformed
	}
	for i := range len(key) {
		if key[i] == 0 {
			return ErrMalformed
		}
	}
	return nil
}

// Size is how much of MaxBytes a value takes.
func Size(key string, value []byte) int64 { return int64(len(key) + len(value) + overhead) }

// Sum adds to a stored number; nil counts as 0.
func Sum(value []byte, amount int64) (int64, error) {
	var n int64
	if value != nil {
		if _, err := fmt.Sscanf(string(value), "%d", &n); err != nil || fmt.Sprint(n) != string(value) {
			return 0, ErrNoNumber
		}
	}
	if amount > 0 && n > (1<<63-1)-amount || amount < 0 && n < -(1<<63)-amount {
		return 0, ErrNoNumber
	}
	return n + amount, nil
}
