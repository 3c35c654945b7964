package observe

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"

	"github.com/mulligan-run/mulligan/internal/netguard"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/provider/internal/sse"
	"github.com/mulligan-run/mulligan/wire"
)

// ErrRedirect is the error for a redirect; requests that follow one are also refused with it.
var ErrRedirect = errors.New("the provider answered with a redirect, which is not followed")

// KeyMissing is the failure of an attempt without a key to send.
func KeyMissing(provider, model, env string, cause error) *failure.Failure {
	text := "no API key for " + provider
	if env != "" {
		text += ": set " + env
	}
	err := errors.New(text)
	if cause != nil {
		err = errors.Join(err, cause)
	}
	f := failure.NewFailure(failure.KindAuth, failure.OriginPrompt, failure.PhasePrompt, err)
	f.Provider, f.Model, f.Variant = provider, model, failure.VariantKeyMissing
	f.Detail = words.Clip(text, failure.MaxDetail)
	f.Describe(failure.Words{EnvVar: env, SetKey: setKey(env, cause)})
	return f
}

// setKey names the command that sets a key; or, where cause is that there is one which cannot be sent,
// says so.
func setKey(env string, cause error) string {
	switch {
	case errors.Is(cause, errBadKey) && env != "":
		return "What is set as " + env + " contains a space, a line break or a character that no key has. Copy it again, then retry from there."
	case errors.Is(cause, errBadKey):
		return "The one that is set contains a space, a line break or a character that no key has. Copy it again, then retry."
	case env == "":
		return "Name the variable that holds its key as key_env in mulligan.yaml, and set it where Mulligan runs."
	}
	return "Set it where Mulligan runs (export " + env + "=…), then retry from there."
}

// PromptFailure is the failure of an attempt whose request cannot be built.
func PromptFailure(provider, model string, cause error) *failure.Failure {
	f := failure.NewFailure(failure.KindPromptFailure, failure.OriginPrompt, failure.PhasePrompt, cause)
	f.Provider, f.Model = provider, model
	f.Detail = words.Clip(cause.Error(), failure.MaxDetail)
	f.Describe(failure.Words{})
	return f
}

// notRepeated matches net/http's error for a request that it could not repeat.
var notRepeated = regexp.MustCompile(`(?s)http2: Transport: cannot retry err \[(.*)\] after Request\.Body was written; define Request\.GetBody to avoid this error`)

// once unwraps the error of a request without GetBody. Requests have no GetBody so that net/http
// cannot repeat them: it would if a server says that it has read nothing (a GOAWAY, a refused
// stream), for as long as the server says so.
func once(err error) error {
	if text := err.Error(); notRepeated.MatchString(text) {
		return errors.New(notRepeated.ReplaceAllString(text, "$1"))
	}
	return err
}

// unanswered is the kind of an error before any answer. connected says whether there was a
// connection. An empty kind leaves it to Classify.
func unanswered(err error, connected bool) failure.Kind {
	var (
		refused *netguard.RefusedAddressError
		dns     *net.DNSError
		timeout net.Error
	)
	switch {
	case errors.As(err, &refused), errors.Is(err, http.ErrSchemeMismatch),
		says(err, "malformed HTTP"), says(err, "Proxy Authentication Required"):
		return failure.KindMisconfigured
	case errors.As(err, &dns):
		return failure.KindUnreachable // also if the name server timed out
	case isTLS(err):
		return failure.KindTLS
	case isDeadline(err):
		return failure.KindTimeout
	case says(err, "server response headers exceeded"), says(err, "response header list too large"):
		return failure.KindMalformedResponse
	case errors.As(err, &timeout) && timeout.Timeout() && !connected:
		return failure.KindTimeout
	case errors.As(err, &timeout) && timeout.Timeout() && says(err, "timeout awaiting"):
		return failure.KindTimeout
	}
	return failure.KindUnreachable
}

func says(err error, words string) bool { return strings.Contains(err.Error(), words) }

// isDeadline reports whether a limit was reached that the caller or its http.Client had set. The
// words are net/http's for a Client.Timeout.
func isDeadline(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || says(err, "net/http: request canceled")
}

func isTLS(err error) bool {
	var (
		verify  *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
	)
	return errors.As(err, &verify) || errors.As(err, &record) || errors.As(err, &alert) ||
		errors.As(err, &unknown) || errors.As(err, &host) || errors.As(err, &invalid) ||
		says(err, "remote error: tls:") || says(err, "tls: handshake failure")
}

// broken is the kind of an error in the middle of an answer.
func broken(err error) failure.Kind {
	var timeout net.Error
	switch {
	case errors.Is(err, sse.ErrTooLarge), errors.Is(err, errAnswerTooLarge), errors.Is(err, wire.ErrMalformed),
		errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum),
		says(err, "in chunk length"), says(err, "malformed chunk"), says(err, "chunk length too large"), says(err, "flate: corrupt"):
		return failure.KindMalformedResponse
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return failure.KindStreamInterrupted
	case isDeadline(err):
		return failure.KindTimeout
	case errors.As(err, &timeout) && timeout.Timeout():
		return failure.KindTimeout
	}
	return failure.KindStreamInterrupted
}
