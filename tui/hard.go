package tui

import "strings"

// Limits on a block that is drawn as Markdown; people write less. Beyond them, drawing time
// grows with the square of the block's size or of what it contains.
const (
	maxBlock   = 6 << 10 // bytes
	maxDepth   = 12      // nesting of quotes and lists
	maxMarks   = 120     // lines that begin an item, a heading, a row of a table and so on
	maxSigns   = 400     // characters outside code that are Markdown syntax
	maxColumns = 40      // of a table
	maxFences  = 12
	maxWord    = 512 // bytes without a space
)

// hard reports whether a block is drawn as written, because drawing it as Markdown would
// take too long.
func hard(text string) bool {
	if len(text) > maxBlock {
		return true
	}
	marks, signs, fences, fence := 0, 0, 0, ""
	for row := range strings.Lines(text) {
		trimmed := strings.TrimSpace(row)
		switch open := opens(trimmed); {
		case fence != "":
			if closes(trimmed, fence) {
				fence = ""
			}
			continue
		case open != "":
			fence = open
			fences++
			continue
		}
		depth := depthOf(row)
		if depth > maxDepth || strings.Count(trimmed, "|") > maxColumns {
			return true
		}
		if depth > 0 || trimmed != "" && strings.ContainsRune("#=|", rune(trimmed[0])) {
			marks++
		}
		word := 0
		for _, c := range []byte(trimmed) {
			word++
			switch c {
			case ' ', '\t':
				word = 0
			case '*', '_', '~', '[', ']', '`', '<', '&', '!', '\\':
				signs++
			}
			if word > maxWord {
				return true
			}
		}
	}
	return marks > maxMarks || signs > maxSigns || fences > maxFences
}

// depthOf is how many quotes and lists a line is in, at most.
func depthOf(row string) int {
	const perLevel = 2 // columns
	inner := strings.TrimLeft(row, " \t")
	depth := (len(row) - len(inner) + strings.Count(row[:len(row)-len(inner)], "\t")*3) / perLevel
	for inner != "" {
		next := strings.TrimPrefix(inner, ">")
		if next == inner {
			if mark := item.FindString(inner); mark != "" {
				next = inner[len(mark):]
			}
		}
		if next == inner {
			return depth
		}
		depth, inner = depth+1, strings.TrimLeft(next, " \t")
	}
	return depth
}
