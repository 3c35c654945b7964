package rules

import "strings"

// maxListed is how many words a message may list.
const maxListed = 12

// didYouMean is the end of a sentence about an unknown word.
func didYouMean(word string, there []string) string {
	if meant := suggestion(word, there); meant != "" {
		return meant
	}
	if len(there) > maxListed {
		return ": docs/rules.md lists what there is"
	}
	return "; there are: " + strings.Join(there, ", ")
}
