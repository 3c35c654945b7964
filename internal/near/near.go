package near

import "strings"

// far is beyond every distance that counts, and the longest word that is compared, in bytes.
const far = 64

// Word is the one of the words there that was probably meant; "" if none is like it. Case does not
// count. A word that is there already was meant for another place, and is none.
func Word(word string, there []string) string {
	best, least := "", max(1, len(word)/3)+1
	for _, candidate := range there {
		if candidate == word {
			continue
		}
		d := Distance(strings.ToLower(word), strings.ToLower(candidate))
		if len(word) > 3 && (strings.Contains(candidate, word) || strings.HasPrefix(word, candidate) && candidate != "") {
			d = min(d, 1)
		}
		if d < least {
			best, least = candidate, d
		}
	}
	return best
}

// Distance is how many letters must be added, removed, replaced or swapped with a neighbour to turn
// a into b. Words of more than 64 bytes are far from all others.
func Distance(a, b string) int {
	if len(a) > far || len(b) > far {
		return far
	}
	var rows [far + 1][far + 1]int
	for i := range len(a) + 1 {
		for j := range len(b) + 1 {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
			case a[i-1] == b[j-1]:
				rows[i][j] = rows[i-1][j-1]
			default:
				rows[i][j] = 1 + min(rows[i-1][j], rows[i][j-1], rows[i-1][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
