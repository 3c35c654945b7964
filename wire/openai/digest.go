package openai

// digest tells answers apart by what they say, piece by piece: FNV-1a. Every delta goes
// through it, so it takes a text as it is, which hash/fnv copies.
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
