package llm

// bytesPerToken is about how many bytes of text a token stands for.
const bytesPerToken = 4

// Tokens estimates how many tokens so many bytes of text are, where no provider has counted them.
func Tokens(bytes int) int64 { return int64(bytes / bytesPerToken) }
