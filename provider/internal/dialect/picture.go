package dialect

import (
	"encoding/base64"

	"github.com/mulligan-run/mulligan/llm"
)

// DataURL is a picture as a URL that holds it.
func DataURL(p *llm.Image) string {
	return "data:" + p.MediaType + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
}
