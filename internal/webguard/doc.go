// Package webguard says of a request to a server of ours whether it was meant for it: by the
// name that it was reached by, against pages whose name was made to resolve to this machine;
// by the page that made it; and by how often somebody guessed.
package webguard
