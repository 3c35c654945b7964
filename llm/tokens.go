package llm

// bytesPerToken is about how many bytes of text make a token.
const bytesPerToken = 4

// Tokens estimates the tokens in so many bytes of text, for when no provider has counted them.
func Tokens(bytes int) int64 { return int64(bytes / bytesPerToken) }
