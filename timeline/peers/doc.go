// Package peers sends what runs say from the member of a database that drives them to the members
// where they are followed, as it is said. Nothing of that passes through the database:
//
//	p, err := peers.Listen("10.0.0.4:0", journal, store.Members, log)
//	…
//	member.Live, member.Seal = p.Address(), p.Seal()  // in this member's row, for all to read
//	p.Run(ctx)
//
// While somebody here follows runs that another member drives, there is one connection to it, for
// all of them (hear.go). It says which runs are followed, one line each, and the other one answers
// with what they say (speak.go). If the other one cannot be reached, it is tried again; until then
// followers see what it saves every quarter of a second, as they do without this package.
//
// # Who may listen
//
// Each member makes itself a certificate when it starts, and puts its digest into its row of the
// database. Both ends of a connection show theirs, and each accepts only one that is in the row of a
// living member: so whoever cannot write to the database hears nothing and says nothing (seal.go).
package peers
