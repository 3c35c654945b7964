// Package protoconv stands between the domain and protobuf; no other package converts.
//
// Most domain types and messages have the same fields under the same JSON names,
// so one walk over both ([FailureToProto], [RunErrorToProto], [ReplyToProto]) does
// what would otherwise be hundreds of lines of assignments; a test demands that
// every field of the domain has its counterpart. What has no counterpart survives
// all the same:
//
//	a name without a number   Kind("brand_new")  ⇄  kind = 0, kind_name = "brand_new"
//	a number without a name   Kind("kind_77")    ⇄  kind = 77
//
// What a plugin says is checked before it becomes a vote: [Reply].
package protoconv
