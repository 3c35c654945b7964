// Package answers answers many open suggestions at once, and says what they are about. It does so
// through a log alone: an answer is a command to its run, which whoever drives that next carries
// out, and which has one name however often it is sent. So an answer is neither lost where the
// process dies that wrote it, nor given twice by who asks again.
package answers
