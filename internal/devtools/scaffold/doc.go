// Package scaffold has the files of a new plugin, as "mulligan plugin new" writes
// them: common has those of every language, and a folder has those of one.
//
// They are text/template's, with « and » around what is filled in. Each has .tmpl after
// its name, so that no tool takes it for what it will be.
package scaffold
