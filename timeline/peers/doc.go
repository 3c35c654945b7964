// Package peers lets the members of a database hear at once what the runs say that others of them
// drive. Nothing of that passes through the database:
//
//	p, err := peers.Listen("10.0.0.4:0", journal, store.Members, log)
//	…
//	member.Live, member.Seal = p.Address(), p.Seal()  // in this member's row, for all to read
//	p.Run(ctx)
//
// While somebody here follows runs that another member drives, there is one connection to it, for
// all of them (hear.go). It says which runs are followed, one line each, and the other one answers
// with what they say (speak.go). Where the other one cannot be reached, followers see what it saves
// of that every quarter of a second, as they do without this package; and it is tried again.
//
// # Who may listen
//
// Each member makes itself a certificate when it starts, and puts its digest into its row of the
// database. Both ends of a connection show theirs, and each believes one alone that is in the row of
// a living member: so whoever cannot write to the database hears nothing and says nothing (seal.go).
package peers
