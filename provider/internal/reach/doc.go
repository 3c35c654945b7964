// Package reach knows whether this machine is cut off from the hosts that it wants to
// talk to, as opposed to a host that is down:
//
//	if reach.Offline(ctx, []reach.Host{{Name: "api.anthropic.com", Port: 443}}) { … }
//
// It sends no request and looks nowhere but at those hosts: it asks the routing table,
// looks names up, and opens connections that it closes at once.
//
// # When in doubt, the machine is online
//
// Whoever takes an online machine for an offline one waits for what is already there,
// so only these are believed, in this order:
//
//   - no route leads to any host, nor to anywhere else;
//   - there are routes, but nobody answers a question for any host's name ("no such
//     host" is an answer);
//   - names have addresses, but the network says of each connection that it leads
//     nowhere;
//   - connections are opened in vain, and there are at least two hosts, none of which
//     fares better than that.
//
// A single host that answers, also by refusing, is proof of the contrary. A host on a
// private network may be switched off, and one whose addresses may not be connected to
// cannot be asked: they prove nothing, unless there is no route at all.
package reach
