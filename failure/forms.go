package failure

import "strings"

// ofTopics are all subjects of a clause: the concepts before the first complaint.
const ofTopics = isLacking - 1

// minPlural is the shortest word, in bytes, that gets a plural.
const minPlural = 4

// formsOf gives the other forms in which people write an entry of the tables: "didnt return" for
// "did not return", "can not find" for "cannot find", "isnt valid" for "not valid", "providers" for
// "provider". A form that is itself an entry keeps its own meaning.
func formsOf(entry string, is concept) (forms []string) {
	parts := strings.Fields(entry)
	if len(parts) == 1 {
		if is&ofTopics != 0 && len(entry) >= minPlural && isLatin(entry) && !strings.HasSuffix(entry, "s") {
			forms = append(forms, entry+"s")
		}
		return forms
	}
	first, rest := parts[0], parts[1:]
	after := " " + strings.Join(rest, " ")
	switch {
	case first == "not" && len(parts) == 2:
		for _, verb := range []string{"isnt", "arent", "wasnt", "werent"} {
			forms = append(forms, verb+after)
		}
	case first == "cannot":
		forms = append(forms, "cant"+after, "can not"+after)
	case negated[first] != "" && rest[0] == "not" && len(parts) == 3:
		forms = append(forms, negated[first]+" "+rest[1])
	}
	return forms
}

// negated are the verbs that English contracts with "not".
var negated = map[string]string{
	"do": "dont", "does": "doesnt", "did": "didnt", "is": "isnt", "are": "arent", "was": "wasnt", "were": "werent", "has": "hasnt", "have": "havent",
	"had": "hadnt", "can": "cant", "could": "couldnt", "would": "wouldnt", "should": "shouldnt", "will": "wont", "must": "mustnt",
}

// isLatin reports whether word is made of ASCII letters alone.
func isLatin(word string) bool {
	for i := 0; i < len(word); i++ {
		if word[i] < 'a' || word[i] > 'z' {
			return false
		}
	}
	return true
}
