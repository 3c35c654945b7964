// Package wholefile reads small files whole and replaces them whole: who reads one that is
// replaced meanwhile sees the old content or the new, never a part.
package wholefile
