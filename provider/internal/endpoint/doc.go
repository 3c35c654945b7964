// Package endpoint is an adapter without its wire: where and how to ask, with which
// key, for which model. A wire adds what its requests and answers look like:
//
//	endpoint.New(cfg, endpoint.Wire{Name: "openai", BaseURL: …, Encode: encode, Decoder: NewDecoder, …})
//
// A native request of the wire is sent as its caller wrote it (native.go).
//
// The adapters' Config and Model are this package's, under their own names.
package endpoint
