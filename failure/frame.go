package failure

import "strings"

// Limits on what may stand around a message.
const (
	maxFrames = 6  // one within another
	maxFrame  = 96 // bytes
)

// unframed is a message without the beginnings that say no more than that something failed:
// "Agent run failed: LLM request error: …". The programs on the way put them before the cause.
func unframed(text string) string {
	for range maxFrames {
		n := frameLen(text)
		if n == 0 {
			break
		}
		text = text[n:]
	}
	return text
}

// frameLen is the length of the frame that text begins with; 0 if it begins with its own words, or
// has none but the frame.
func frameLen(text string) int {
	head := text[:min(len(text), maxFrame)]
	if rest, ok := strings.CutPrefix(head, "code = "); ok { // of gRPC
		if i := strings.Index(rest, " desc = "); i >= 0 {
			return len("code = ") + i + len(" desc = ")
		}
	}
	if end := strings.Index(head, ") when calling the "); end >= 0 && strings.HasPrefix(head, errorOccurred) { // of AWS
		for _, end := range []string{" operation: ", retriesEnd} {
			if i := strings.Index(text, end); i >= 0 && i < 2*maxFrame {
				return i + len(end)
			}
		}
	}
	i := strings.IndexByte(head, ':')
	for i >= 0 && i+1 < len(head) && head[i+1] != ' ' && head[i+1] != '\n' {
		next := strings.IndexByte(head[i+1:], ':')
		if next < 0 {
			return 0
		}
		i += 1 + next
	}
	if i < 0 || i+2 >= len(text) || !isFrame(head[:i]) {
		return 0
	}
	return i + 2
}

// errorOccurred begins the messages of AWS, and retriesEnd ends what stands before the provider's words
// where its SDK has tried again: "operation (reached max retries: 4): ".
const (
	errorOccurred = "An error occurred ("
	retriesEnd    = "): "
)

// isFrame reports whether all words of a head are such as any failure is told with. Those of the
// name of a status are, after its number.
func isFrame(head string) bool {
	numbered := hasStatus(head)
	for l := (lexer{text: head}); ; {
		word, _, ok := l.next()
		if !ok {
			return true
		}
		if len(word) > 1 && !frameWords[word] && (!numbered || !statusWords[word]) {
			return false
		}
	}
}

func hasStatus(head string) bool {
	for word := range strings.FieldsSeq(head) {
		if _, ok := httpStatus(strings.Trim(word, "()[]")); ok {
			return true
		}
	}
	return false
}

// frameWords are words that say that something failed, or where, and not why.
var frameWords = setOf(`
		error errors err exception exceptions failed failure failing fail fails went wrong something occurred encountered raised thrown uncaught
		unhandled rejection promise panic critical fatal warn warning info debug level log logger trace cause caused by reason
		request requests call calls calling called caller invoke invoking invocation invoked operation rpc http api apis sdk cli
		llm llms lm ai model models provider providers agent agents subagent assistant backend upstream downstream gateway server client
		run runs running runner runtime execution executing exec execute task tasks step steps stage job worker workflow node graph chain lang
		pipeline session thread main app handler loop turn turns round chat completion completions message messages generate generating generation
		inference embedding embeddings response responses reply unexpected got get getting returned returns received stream streaming
		list listing load loading fetch fetching attempt attempts retry retries retrying last final original underlying inner compaction compacting compact summarization summarizing summary
		tool command process subprocess exited exit code status stderr stdout output fallback exhausted all try trying tried sending send processing
		the an to of in on at with for from while during when after and not could cannot unable
		openai anthropic claude google gemini vertex bedrock amazon aws azure mistral deepseek groq xai grok cohere ollama litellm openrouter codex
		copilot qwen kimi moonshot zhipu glm minimax together fireworks cerebras huggingface langchain vercel gpt
		open router lite deep seek mini max hugging face x`)

// statusWords are those of the names of statuses.
var statusWords = setOf(`bad request unauthorized payment required forbidden not found too many requests internal server error gateway
		service temporarily unavailable timeout time out unprocessable entity content large payload`)

func setOf(list string) map[string]bool {
	is := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		is[word] = true
	}
	return is
}
