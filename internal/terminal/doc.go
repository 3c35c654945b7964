// Package terminal says what of somebody else's text may reach a terminal. Models,
// providers, plugins and tools write what they like; a terminal obeys what is written to
// it: it would set the clipboard, change its title, hide what was there, or draw a link
// that leads elsewhere. Whoever prints such text passes it through here first.
package terminal
