package wire

// Report is an error as a provider tells it.
type Report struct {
	Status  int    // of the HTTP answer
	Type    string // the wire's name for it: error.type, or Gemini's error.status
	Code    string // error.code; "" where the wire or the error has none
	Param   string // error.param; likewise
	Message string
}
