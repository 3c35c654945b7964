// Package hostiletext is text that a model may write and that is hard to draw: what blanked,
// froze or overflowed something that draws Markdown, and what is like it. The chat page and
// the terminal are held to the same shapes.
package hostiletext
