package values

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Limits of what a plugin may keep.
const (
	MaxKey   = 200      // bytes
	MaxValue = 64 << 10 // bytes
	MaxBytes = 64 << 20 // of all keys and values of a plugin, and Overhead for each
	MaxKeys  = 1000     // in one page of ListValues
	Overhead = 64       // bytes that a value counts beside its key and itself
)

var (
	// ErrFull says that the plugin's values would take more than MaxBytes.
	ErrFull = errors.New("the plugin's values would take more than 64 MiB: delete some")
	// ErrNoNumber says that a value is not a number to which that can be added.
	ErrNoNumber = errors.New("the value is no whole number, or the sum would not fit into 64 bits")
	// ErrMalformed says that a key or a value cannot be kept.
	ErrMalformed = errors.New("a key has 1 to 200 bytes of UTF-8 without a zero byte, and a value at most 64 KiB")
)

// Store keeps values, each by the plugin that it belongs to and its key. A version is another one after
// every change of its value, and greater than all before; 0 is that of a value which is not there.
// Methods may be called by several goroutines, and several processes may have the same store.
type Store interface {
	// GetValue gives a value and its version.
	GetValue(ctx context.Context, plugin, key string) (value []byte, version int64, err error)
	// SetValue writes a value: in any case where expected is nil, else only in the place of that
	// version. Done is false where there is another version, which is given. Error: ErrFull.
	SetValue(ctx context.Context, plugin, key string, value []byte, expected *int64) (done bool, version int64, err error)
	// AddValue adds to a number in decimal digits, 0 where there is none. Errors: ErrNoNumber, ErrFull.
	AddValue(ctx context.Context, plugin, key string, amount int64) (sum int64, err error)
	// DeleteValue removes a value, in any case or only that version.
	DeleteValue(ctx context.Context, plugin, key string, expected *int64) (done bool, err error)
	// ListValues gives the keys that begin with prefix and come after that key, in the order of their
	// bytes: at most MaxKeys+1, so that one too many says that there are more.
	ListValues(ctx context.Context, plugin, prefix, after string) ([]string, error)
}

// Check says why a key, or a value under it, cannot be kept.
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
func Size(key string, value []byte) int64 { return int64(len(key) + len(value) + Overhead) }

// Sum adds to a number as it is kept; nil is 0.
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
