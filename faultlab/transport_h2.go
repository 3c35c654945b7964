package faultlab

import (
	"bytes"
	"crypto/tls"
	"io"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/mulligan-run/mulligan/faultlab/catalogue"
)

// h2Fault makes a request on a stream fail; it returns true if the connection is over.
type h2Fault func(f *http2.Framer, stream uint32, path string) bool

// breakH2 speaks as much HTTP/2 as it takes to receive a request.
func breakH2(fail h2Fault) func(*Broken) error {
	return func(b *Broken) error {
		return b.serveTLS(certGood, []string{http2.NextProtoTLS}, func(c *tls.Conn) {
			preface := make([]byte, len(http2.ClientPreface))
			if _, err := io.ReadFull(c, preface); err != nil || string(preface) != http2.ClientPreface {
				return
			}
			framer := http2.NewFramer(c, c)
			framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
			if framer.WriteSettings() == nil {
				talkH2(framer, func(f *http2.Framer, stream uint32, path string) bool {
					b.requests.Add(1)
					return fail(f, stream, path)
				})
			}
		})
	}
}

// talkH2 reads frames until the connection is over.
func talkH2(framer *http2.Framer, fail h2Fault) {
	paths := map[uint32]string{}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		id, ended := frame.Header().StreamID, false
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				err = framer.WriteSettingsAck()
			}
		case *http2.PingFrame:
			if !f.IsAck() {
				err = framer.WritePing(true, f.Data)
			}
		case *http2.MetaHeadersFrame:
			paths[id], ended = f.PseudoValue("path"), f.StreamEnded()
		case *http2.DataFrame:
			ended = f.StreamEnded()
		}
		if err != nil || ended && fail(framer, id, paths[id]) {
			return
		}
	}
}

func h2Reset(f *http2.Framer, stream uint32, _ string) bool {
	return f.WriteRSTStream(stream, http2.ErrCodeInternal) != nil
}

// h2Refused says that the request may be repeated.
func h2Refused(f *http2.Framer, stream uint32, _ string) bool {
	return f.WriteRSTStream(stream, http2.ErrCodeRefusedStream) != nil
}

// h2ResetMid begins the answer that suits the path, and then resets the stream.
func h2ResetMid(f *http2.Framer, stream uint32, path string) bool {
	var head bytes.Buffer
	encoder := hpack.NewEncoder(&head)
	for _, field := range []hpack.HeaderField{{Name: ":status", Value: "200"}, {Name: "content-type", Value: "text/event-stream"}} {
		if encoder.WriteField(field) != nil {
			return true
		}
	}
	err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: head.Bytes(), EndHeaders: true})
	if err != nil || f.WriteData(stream, false, []byte(partialAnswer(path))) != nil {
		return true
	}
	return h2Reset(f, stream, path)
}

// partialAnswer is the beginning of an answer on the wire that a path belongs to.
func partialAnswer(path string) string {
	wire := "gemini"
	switch {
	case strings.HasSuffix(path, "/messages"):
		wire = "anthropic"
	case strings.HasSuffix(path, "/chat/completions"):
		wire = "openai"
	case strings.HasSuffix(path, "/responses"):
		wire = "responses"
	}
	for _, s := range catalogue.Scripts("T35") {
		if s.Wire == wire {
			return catalogue.Values{Model: "model"}.Fill(s.Acts[0].Data)
		}
	}
	return ""
}

func h2GoAway(f *http2.Framer, stream uint32, _ string) bool {
	_ = f.WriteGoAway(stream, http2.ErrCodeNo, nil)
	return true
}

// h2GoAwayUnread says that the request may be repeated on another connection.
func h2GoAwayUnread(f *http2.Framer, _ uint32, _ string) bool {
	return f.WriteGoAway(0, http2.ErrCodeNo, nil) != nil
}
