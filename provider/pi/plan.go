package pi

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/llm"
)

// goOn is the prompt that the extension keeps from the model. Without the extension the model would
// understand it nevertheless.
const goOn = "Continue with what you were doing. (Mulligan has Pi go on.)"

const (
	maxTold       = 256 << 10 // bytes of what others said
	maxToldResult = 4 << 10   // bytes of one tool's result in that
)

// plan is what to tell Pi for a request, or the answer that it has already given.
type plan struct {
	text   string
	images []llm.Image
	answer *message
}

// planFor decides by what Pi knows of the session. entry is the name of our entry, which comes
// before Pi's models.
func planFor(messages []llm.Message, known []message, entry string) (plan, error) {
	last := lastUser(messages)
	if last < 0 {
		return plan{}, fmt.Errorf("there is no message of a user to begin a turn with")
	}
	asked := messages[last]
	text, images := asked.Text(), imagesOf(asked)
	known = withoutGoOn(known)
	at := lastTold(known)
	since := foreign(messages[last+1:], entry)
	if at >= 0 && isTold(known[at], text) {
		switch {
		case !answered(known[at:]):
			return plan{text: goesOnAfter(since)}, nil
		case timesSaid(messages, text) <= timesTold(known, text):
			return plan{answer: &known[len(known)-1]}, nil
		}
	}
	before, after := messages[:last], since
	if at < 0 {
		after = messages[last+1:] // Pi has lost what it did itself
	} else {
		before = unheard(before, entry, known[at])
	}
	return plan{text: introduce(before) + text + continueFrom(after), images: images}, nil
}

func lastUser(messages []llm.Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == llm.RoleUser {
			return i
		}
	}
	return -1
}

func imagesOf(m llm.Message) (images []llm.Image) {
	for _, p := range m.Parts {
		if p.Image != nil {
			images = append(images, *p.Image)
		}
	}
	return images
}

func withoutGoOn(known []message) []message {
	var rest []message
	for _, m := range known {
		if m.Role != "user" || m.text() != goOn {
			rest = append(rest, m)
		}
	}
	return rest
}

// lastTold is the index of the last message that we told Pi, or -1.
func lastTold(known []message) int {
	for i := len(known) - 1; i >= 0; i-- {
		if known[i].Role == "user" {
			return i
		}
	}
	return -1
}

// isTold reports whether m is that text of a user, alone or after an introduction.
func isTold(m message, text string) bool {
	told := m.text()
	if rest, ok := strings.CutPrefix(told, introduction); ok {
		told = rest
	}
	told, _, _ = strings.Cut(told, continuation)
	return told == text || strings.HasSuffix(told, endOfIntroduction+text)
}

func timesSaid(messages []llm.Message, text string) (n int) {
	for _, m := range messages {
		if m.Role == llm.RoleUser && m.Text() == text {
			n++
		}
	}
	return n
}

func timesTold(known []message, text string) (n int) {
	for _, m := range known {
		if m.Role == "user" && isTold(m, text) {
			n++
		}
	}
	return n
}

// answered reports whether the turn has its last message.
func answered(turn []message) bool {
	end := turn[len(turn)-1]
	proper := end.StopReason == "stop" || end.StopReason == "length"
	return end.Role == "assistant" && proper && len(end.calls()) == 0 && end.text() != ""
}

// foreign are the messages that models other than Pi's wrote, with the results of their tools.
func foreign(messages []llm.Message, entry string) (list []llm.Message) {
	ours := false
	for _, m := range messages {
		if m.Role == llm.RoleAssistant {
			ours = strings.HasPrefix(m.Model, entry+"/")
		}
		if !ours {
			list = append(list, m)
		}
	}
	return list
}

// unheard is what was said after the last message that Pi knows: what one of its own models did, or
// the user's message that it was told last.
func unheard(messages []llm.Message, entry string, told message) []llm.Message {
	for i := len(messages) - 1; i >= 0; i-- {
		m := messages[i]
		switch {
		case m.Role == llm.RoleUser && isTold(told, m.Text()):
			return messages[i+1:]
		case m.Role == llm.RoleAssistant && strings.HasPrefix(m.Model, entry+"/"):
			for i++; i < len(messages) && messages[i].Role == llm.RoleTool; i++ {
			}
			return messages[i:]
		}
	}
	return messages
}

// The words around what Pi is told about what others said.
const (
	introduction      = "This conversation goes on from one with another assistant. What was said there:\n\n"
	endOfIntroduction = "\n\nIt goes on with this message of the user:\n\n"
	continuation      = "\n\nSince then this was done for it already:\n\n"
	goAhead           = "\n\nGo on from there, and do not repeat what was done."
)

func introduce(messages []llm.Message) string {
	if told := tell(messages); told != "" {
		return introduction + told + endOfIntroduction
	}
	return ""
}

func continueFrom(messages []llm.Message) string {
	if told := tell(messages); told != "" {
		return continuation + told + goAhead
	}
	return ""
}

// goesOnAfter is the prompt for Pi to continue after others have done something since.
func goesOnAfter(since []llm.Message) string {
	if told := continueFrom(since); told != "" {
		return strings.TrimSpace(told)
	}
	return goOn
}

// tell writes messages out, the latest of them up to maxTold bytes.
func tell(messages []llm.Message) string {
	var list []string
	left := maxTold
	for i := len(messages) - 1; i >= 0; i-- {
		told := tellOne(messages[i])
		if left -= len(told); left < 0 {
			list = append(list, "[what was said before this is left out]")
			break
		}
		if told != "" {
			list = append(list, told)
		}
	}
	var b strings.Builder
	for i := len(list) - 1; i >= 0; i-- {
		b.WriteString(list[i])
		if i > 0 {
			b.WriteString("\n\n")
		}
	}
	return b.String()
}

func tellOne(m llm.Message) string {
	who := map[llm.Role]string{llm.RoleUser: "User: ", llm.RoleAssistant: "Assistant: "}[m.Role]
	var pieces []string
	for _, p := range m.Parts {
		switch {
		case p.Text != "":
			pieces = append(pieces, who+p.Text)
		case p.Image != nil:
			pieces = append(pieces, who+"[a picture]")
		case p.Call != nil:
			pieces = append(pieces, fmt.Sprintf("Assistant called %s with %s", p.Call.Name, words.Clip(string(p.Call.Args), maxToldResult)))
		case p.Result != nil:
			pieces = append(pieces, fmt.Sprintf("%s returned: %s", p.Result.Name, words.Clip(p.Result.Text, maxToldResult)))
		}
	}
	return strings.Join(pieces, "\n")
}

// command is the plan in Pi's form.
func (p plan) command() map[string]any {
	command := map[string]any{"message": p.text}
	if len(p.images) > 0 {
		type image struct {
			Type     string `json:"type"`
			Data     []byte `json:"data"`
			MIMEType string `json:"mimeType"`
		}
		var list []image
		for _, i := range p.images {
			list = append(list, image{"image", i.Data, i.MediaType})
		}
		command["images"] = list
	}
	return command
}

// knownMessages reads Pi's answer to get_messages.
func knownMessages(data json.RawMessage) ([]message, error) {
	var answer struct {
		Messages []message `json:"messages"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("pi's messages cannot be read: %w", err)
	}
	return answer.Messages, nil
}
