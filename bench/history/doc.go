// Package history records what concurrent clients of a store requested and were told, and has
// porcupine check whether the history is linearizable: whether clients that act one after another
// could have been told the same.
//
// There are three models, each a few lines that say what is promised:
//
//   - ownership (ownership_test.go): a run has one owner at a time, every claim has a higher
//     epoch, and a former owner appends nothing (I34);
//   - accept-once (accept_test.go): of several answers to a suggestion one is accepted (I18);
//   - start-once (start_test.go): of several starts of a run with the same id one succeeds (I37).
//
// Each model is checked against the memory store and SQLite; with SQLite each owner has its own
// Store, as processes do. Each check also finds a fault that is planted into its log, which shows
// that it can fail.
package history
