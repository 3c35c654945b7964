package scaffold

import "embed"

// Templates are the files, by FOLDER/PATH.tmpl.
//
//go:embed all:common all:go all:java all:python all:rust all:typescript
var Templates embed.FS
