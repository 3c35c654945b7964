package failure

import "slices"

// looseRules read the words of the transport, or of a program that passed a failure on as nothing
// but a message. They come last.
var looseRules = slices.Concat([]rule{
	{kind: KindMisconfigured, variant: "not_https", wire: true, any: []string{"server gave http response to https client", "wrong version number"}},
	{kind: KindMisconfigured, variant: "not_http", wire: true, any: []string{"malformed http response", "malformed http status", "unsupported protocol scheme", "invalid port", "missing protocol scheme", "typeerror: invalid url", "only absolute urls", "failed to parse url", "err_invalid_url", "invalidurl", "unsupportedprotocol", "disabled in libcurl", "missing an 'http://'", "no scheme supplied", "relative url without a base", "badscheme", "kind: builder", "no connection adapters", "curle_url_malformat", "uriformatexception", "noregionerror", "must specify a region"}},
	{kind: KindMisconfigured, variant: "no_api", any: []string{"apicallerror: not found"}},
	{kind: KindMisconfigured, variant: "redirect", wire: true, any: []string{"重定向", "リダイレクト", "returned a redirect", "was redirected", "toomanyredirects", "too many redirects", "redirects followed", "stopped after 10 redirects", "redirect count exceeded", "maximum redirect", "redirect loop", "err_too_many_redirects", "kind: redirect"}},
	{kind: KindMisconfigured, variant: VariantProxy, wire: true, any: []string{"proxy authentication required", "could not resolve proxy", "couldn't resolve proxy"}},
	{kind: KindMisconfigured, variant: VariantProxyRefused, wire: true, any: []string{"err_tunnel_connection_failed", "proxyerror"}},
	{kind: KindUnreachable, variant: VariantProxy, wire: true, any: []string{"proxyconnect", "err_proxy_connection_failed"}},
	{kind: KindTimeout, wire: true, any: []string{"tls handshake timeout"}},
	{kind: KindTLS, variant: "clock", wire: true, any: []string{"certificate has expired", "cert_has_expired", "not yet valid", "err_cert_date_invalid"}},
	{kind: KindTLS, variant: "host", wire: true, any: []string{"certificate is valid for", "certificate is not valid for", "hostname/ip does not match", "err_tls_cert_altname_invalid", "err_cert_common_name_invalid"}},
	{kind: KindTLS, variant: "authority", wire: true, any: []string{
		"unknown authority", "self signed certificate", "self-signed certificate", "self_signed_cert", "unable to get local issuer", "unable_to_verify_leaf_signature",
		"unable_to_get_issuer_cert", "certificate_verify_failed", "err_cert_authority_invalid", "unknownissuer", "unknown issuer",
	}},
	{kind: KindTLS, wire: true, any: []string{"x509:", "tls alert", "ssl alert", "tls:", "sslhandshake", "terminated the handshake", "certificate", "ssl routines", "sslerror", "err_ssl_", "[ssl:", "sslpeerunverified", "secureconnectionerror", "trustfailure", "sec_e_", "cert_untrusted", "write eproto"}},
	{kind: KindMalformedResponse, wire: true, any: []string{
		"invalid byte in chunk length", "gzip: invalid", "malformed chunked encoding", "invalid character", "unexpected end of json",
		"token too long", "zlib: invalid", "flate: corrupt", "jsondecodeerror", "expecting value: line", "is not valid json", "in json at position",
		"jsonparseerror", "jsonparseexception", "jsonsyntaxexception", "jsonreaderexception", "jsonexception", "mismatchedinputexception", "json.parse:", "cannot unmarshal", "could not unmarshal", "decodingerror", "expected value at line", "unexpected mimetype", "unexpected content type", "unexpected content-type", "keyerror: 'choices'", "keyerror: 'content'", "keyerror: 'message'", "keyerror: 'candidates'", "reading 'choices'", "reading 'message'", "reading 'content'", "reading 'candidates'", "reading '0'", "cannot read property '0'", "cannot read property 'choices'", "json parsing failed", "invalid json response", "responsevalidationerror", "invalidresponsedata",
		"parse response", "response could not be parsed", "invalidstreampart", "jsonschemavalidationerror", "invalid structured output", "extracting response", "noobjectgenerated", "nosuchtoolerror", "invalidtoolarguments", "invalidtoolinput", "json error injected", "error -3 while decompressing", "json.exception.parse_error", "parsing tool call", "invalid tool call", "response did not match", "response does not match", "output did not match", "output does not match", "reply did not match", "reply does not match", "answer did not match", "answer does not match", "did not match the expected", "does not match the expected", "tool that does not exist", "called an unknown tool", "called a nonexistent tool", "tool arguments are not", "tool arguments could not", "parse tool call", "tool call arguments",
	}, unless: []string{"request body", "tool call id"}},
	{kind: KindMalformedResponse, wire: true, any: []string{"response", "output", "reply", "answer", "completion"}, near: []string{"failed schema", "schema validation failed", "not match the schema", "not conform to", "not adhere to", "not follow the schema", "not validate against", "not valid against", "n't conform to", "n't adhere to", "n't match the schema", "n't follow the schema", "violates the schema", "schema mismatch", "failed validation"}, unless: []string{"request", "response_format", "response format"}},
	{kind: KindMalformedResponse, wire: true, any: []string{"missing field"}, near: []string{" at line ", "choices", "candidates", "`message`", "`content`", "`delta`", "`usage`"}, unless: requestBodies},
	{kind: KindMalformedResponse, wire: true, any: []string{"could not deserialize", "failed to deserialize", "cannot deserialize", "deserialization error", "deserialization failed"}, unless: requestBodies},
	{kind: KindStreamInterrupted, wire: true, any: []string{
		"unexpected eof", "eofexception", "incompletemessage", "premature close", "premature_close", "prematurely", "premature end", "incomplete chunked read", "incompleteread", "other side closed",
		"chunkedencodingerror", "incomplete_chunked", "err_http2_", "prematurecloseexception", "payload is not completed", "closed before response", "closed before message completed", "stream closed before", "stream ended before",
		"stream ended without", "without a terminal event", "without emitting a terminal", "without terminal event", "stream ended unexpectedly", "stream was interrupted", "stream interrupted", "incomplete stream", "unexpected end of stream",
		"transfer closed with", "sending complete message body", "error reading a body from connection", "connection closed while reading",
		"stream terminated", "missing [done]", "without [done]", "before [done]", "before message_stop", "eof before", "not closed cleanly", "end of file reached", "mid-stream", "mid-response", "mid-answer", "mid-message", "mid-generation", "mid-reply", "mid-turn", "mid-sentence", "mid-output", "stream aborted", "error in input stream", "stream closed unexpectedly", "stream disconnected unexpectedly",
	}},
	{kind: KindStreamInterrupted, wire: true, any: []string{"terminated"}, unless: []string{"account", "access", "subscription", "process", "terminated due", "rpc that terminated", "handshake", "user", "workspace", "organization", "seat", "membership", "api key"}},
	{kind: KindTimeout, wire: true, any: socketErrors(timeoutErrnos...)},
	{kind: KindTimeout, wire: true, any: []string{"did not properly respond after a period"}},
	{kind: KindUnreachable, wire: true, any: socketErrors(unreachableErrnos...)},
	{kind: KindUnreachable, wire: true, any: []string{"enotfound"}, unless: []string{ // names that end in …eNotFound
		"filenotfound", "modulenotfound", "enginenotfound", "routenotfound", "resourcenotfound", "responsenotfound", "messagenotfound", "templatenotfound", "voicenotfound", "namenotfound",
	}},
	{kind: KindUnreachable, wire: true, any: []string{
		"err_empty_response", "nameresolution", "resourceaccessexception", "nohttpresponse", "connectionshutdown", "receivefailure", "annotatedconnect", "i/o error on", "err_quic_", "enotconn", "enetreset", "eshutdown", "no such host", "unknownhost", "unresolvedaddress", "framing layer", "nghttp2", "eai_again", "eai_noname", "eai_nodata", "getaddrinfo", "name resolution", "name_not_resolved", "name or service not known",
		"nodename nor servname", "dns error", "dns lookup", "dns resol", "dns fail", "dial tcp: lookup", "server misbehaving",
		"connection refused", "econnrefused", "connection_refused", "connectionrefused", "actively refused", "connection reset", "connection was reset", "econnreset",
		"connection_reset", "connectionreset", "forcibly closed", "econnaborted", "connection aborted", "connection was aborted", "broken pipe", "epipe",
		"network is unreachable", "unreachable network", "enetunreach", "enetdown", "network is down",
		"no route to host", "ehostunreach", "ehostdown", "host is down", "unreachable host", "eaddrnotavail", "cannot assign requested address", "fetch failed", "failed to fetch",
		"network error", "networkerror", "network connection was lost", "connection error", "stream error: stream id",
		"goaway", "use of closed network connection", "socket hang up", "channelclosed", "parser received no bytes", "err_ngrok", "server closed idle connection", "connection lost", "connection closed", "connection was closed", "connection_closed",
		"err_network", "err_internet_disconnected", "not connected to the internet", "no internet connection", "check your network connection",
		"check your internet connection", "internet connection appears to be offline", "you are offline", "you appear to be offline", "und_err_socket", "remotedisconnected", "remote end closed connection",
		"server disconnected", "remoteprotocolerror", "cannot connect", "could not connect", "couldn't connect", "can't connect", "connect call failed", "unable to connect", "failed to connect",
		"connection attempts failed", "failed to establish a new connection", "newconnectionerror", "maxretryerror", "max retries exceeded with url", "error sending request for url", "tcp connect error", "empty reply from server",
	}, unless: []string{"timed out", "timeout"}},
	{kind: KindUnreachable, wire: true, any: []string{"failed, reason: "}, unless: []string{"timed out", "timeout", "etimedout", "certificate", "premature"}}, // fetch of Node, whatever the socket said
	{kind: KindUnreachable, wire: true, any: []string{"load failed"}, unless: []string{"upload failed", "download failed", "reload failed", "preload failed", "model load failed", "timed out", "timeout"}},
	{kind: KindMalformedResponse, wire: true, any: []string{"error decoding response"}, near: []string{"missing field", "expected", "invalid type", "unknown variant", "eof while parsing"}},
	{kind: KindTimeout, once: never, wire: true, any: []string{"client.timeout or context cancellation while reading body"}},
	{kind: KindTimeout, wire: true, any: []string{
		"timed out", "timeout", "etimedout", "execution expired", "aborterror", "deadline exceeded", "deadline_exceeded", "deadlineexceeded", "operation was aborted", "operation was canceled", "operation was cancelled", "operation canceled", "operation cancelled", "task was canceled", "task was cancelled", "request was aborted", "esockettimedout",
		"took too long",
	}},
	{kind: KindRateLimit, any: []string{"rate limit", "rate_limit", "ratelimit", "rate-limit", "too many requests", "toomanyrequests", "slow down", "throttl", "resource exhausted", "resource has been exhausted", "resourceexhausted", "resource_exhausted", "concurrency limit", "burst limit", "burst rate", "concurrentrequests", "no deployments available", "conn limit"}},
	{kind: KindRateLimit, any: []string{"please wait ", "must wait "}, near: []string{" second", " minute"}, unless: []string{"timed out", "timeout", "unavailable", "overload", "capacity", "demand", "busy", "error", "failed", "login", "log in", "sign in", "maintenance"}},
	{kind: KindRateLimit, any: []string{"per minute", "per second", "per-minute", "(tpm)", "(rpm)"}, near: []string{"exceed", "reached"}},
	{kind: KindAuth, variant: "permission", any: []string{"permissiondenied", "permission denied", "permission_denied", "access denied", "accessdenied", "not authorized", "forbidden"}, unless: []string{"[errno"}},
	{kind: KindAuth, any: []string{"unauthorized", "authentication", "credentialunavailable"}},
}, looseChinese, []rule{
	{kind: KindMalformedResponse, any: []string{"typevalidationerror", "outputparserexception", "output parser", "instructorretry", "expected http/"}}, // its value may hold what the provider said
	{kind: KindModelNotFound, any: []string{"model"}, near: []string{"not found", "unavailable for free"}},
	{kind: KindModelNotFound, any: []string{"notfounderror", "exception$notfound", "exceptions.notfound"}},
	{kind: KindUnavailable, any: []string{"unavailable", "bad gateway", "badgateway", "gateway time-out", "internal server error", "internalservererror", "internalserverexception", "internal error", "server error", "serviceunavailable", "upstream error", "upstream connect error", "no healthy upstream", "midstreamfallback"}},
	{kind: KindUnreachable, wire: true, any: []string{": eof", "apiconnectionerror", "connecterror", "clientconnector", "readerror", "writeerror"}},
})

// wrappers are the names of errors that wrap another error. They say no more than that the request
// was refused, or that the answer broke off.
var wrappers = []rule{
	{kind: KindAuth, any: []string{"api key"}},
	{kind: KindUnavailable, any: []string{"provider returned error"}},
	{kind: KindInvalidRequest, any: []string{
		"badrequest", "bad request", "invalidrequest", "invalid request", "invalid_request", "unprocessableentity", "unprocessable entity", "invalidargument",
		"invalid argument", "validationexception", "unsupportedparams", "unsupportedfunctionality", "unsupported parameter", "input validation error", "invalid parameter", "invalid_argument",
		"failed_precondition", "rejectedrequest",
	}, unless: []string{"[errno"}},
	{kind: KindStreamInterrupted, wire: true, any: []string{"disconnected before completion"}},
}

var (
	// unreachableErrnos are the error numbers of refused, reset and unroutable connections on
	// Windows, Linux, macOS and the BSDs, and of getaddrinfo.
	unreachableErrnos = []string{
		"10061", "10054", "10053", "10051", "10050", "10065", "10064", "10049", "10013", "11001", "11002", "11003", "11004", "1225", "1231", "1232", "64",
		"111", "104", "103", "101", "113", "112", "99", "32", "61", "54", "53", "51", "50", "65", "-2", "-3", "-5",
	}
	// requestBodies are what a server could not read, and not a client.
	requestBodies = []string{"request body", "in request", "in the request", "your request", "json body", "into the target", "invalid request", "badrequest"}
	// timeoutErrnos are the error numbers of connections that timed out.
	timeoutErrnos = []string{"10060", "121", "110", "60"}
)

// socketErrors are the forms in which Python and Rust print an error number.
func socketErrors(numbers ...string) []string {
	var list []string
	for _, n := range numbers {
		list = append(list, "[winerror "+n+"]", "[errno "+n+"]", "(os error "+n+")")
	}
	return list
}
