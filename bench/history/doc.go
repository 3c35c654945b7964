// Package history records what concurrent clients of a store asked and were told, and has
// porcupine say whether that is what one careful client after another could have been
// told: whether the history is linearizable.
//
// There are three models, each a few lines of what is promised:
//
//   - ownership (ownership_test.go): a run has one owner at a time, every claim a higher
//     epoch, and who is not the owner any more appends nothing (I34);
//   - accept-once (accept_test.go): of all who answer a suggestion one is heard (I18);
//   - start-once (start_test.go): of all who start a run of one id one does (I37).
//
// Each is held to the memory store and to SQLite, there with a Store of its own for each
// owner, which is what processes are to one another. And each finds a fault that is planted
// into its log, so that a check that passes says something.
package history
