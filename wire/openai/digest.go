package openai

// digest distinguishes answers by their contents (FNV-1a). Every delta is added to it, so it takes
// strings, which hash/fnv would copy.
type digest uint64

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func newDigest() digest { return fnvOffset }

func (d *digest) add(text string) {
	for i := range len(text) {
		*d = (*d ^ digest(text[i])) * fnvPrime
	}
}
