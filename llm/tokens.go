package llm

// bytesPerToken is about how much text a token is.
const bytesPerToken = 4

// Tokens is about how many tokens so many bytes of text are, where no provider has
// counted them.
func Tokens(bytes int) int64 { return int64(bytes / bytesPerToken) }
