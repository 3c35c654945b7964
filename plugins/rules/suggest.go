package rules

import (
	"fmt"
	"strings"
)

// maxListed is how many words a message may list.
const maxListed = 12

// didYouMean is the end of a sentence about an unknown word.
func didYouMean(word string, there []string) string {
	if near := nearest(word, there); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	if len(there) > maxListed {
		return ": docs/rules.md lists what there is"
	}
	return "; there are: " + strings.Join(there, ", ")
}

// nearest is the word that was probably meant, or "".
func nearest(word string, there []string) string {
	best, least := "", max(1, len(word)/3)+1
	for _, candidate := range there {
		d := distance(strings.ToLower(word), strings.ToLower(candidate))
		if len(word) > 3 && (strings.Contains(candidate, word) || strings.HasPrefix(word, candidate) && candidate != "") {
			d = min(d, 1)
		}
		if d < least {
			best, least = candidate, d
		}
	}
	return best
}

// distance is how many letters must be added, removed, replaced or swapped with a
// neighbour to turn a into b. Words of more than 64 bytes are far from all others.
func distance(a, b string) int {
	const far = 64
	if len(a) > far || len(b) > far {
		return far
	}
	var rows [far + 1][far + 1]int
	for i := range len(a) + 1 {
		for j := range len(b) + 1 {
			if i == 0 || j == 0 {
				rows[i][j] = i + j
				continue
			}
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
