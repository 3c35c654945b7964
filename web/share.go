package web

import "bytes"

// The page of a run as one file. It may load nothing at all, so nobody learns that it is read.
const (
	shareHead = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>A run · Mulligan</title>
<style>
`
	shareBody = `</style>
</head>
<body class="control">
<noscript>This page needs JavaScript.</noscript>
<mulligan-rescue></mulligan-rescue>
<script type="application/json" id="rescue">`
	shareCode = `</script>
<script type="module">
`
	shareEnd = `</script>
</body>
</html>
`
)

// share is the page of a run as one file that needs nothing else, however it is opened. document is
// the JSON of a rescue.Rescue without any <, as encoding/json escapes it.
func share(document []byte) []byte {
	return bytes.Join([][]byte{
		[]byte(shareHead), embedded("app.css"), embedded("rescue.css"), []byte(shareBody), bytes.TrimSpace(document), []byte(shareCode), embedded("rescue.js"), []byte(shareEnd),
	}, nil)
}
