package gateway

import (
	"log/slog"
	"net/http"
	"time"
)

// Server is an http.Server for a Guard, with limits on what a client may take its time
// with (S12): 5 s for the headers, which have 32 KiB, and a minute between two requests.
// There is none on answers as a whole, because event streams stay open; each of their
// writes has its own. HTTP/2 is spoken without TLS, too, as programs do that ask by gRPC. logger is told what goes
// wrong below HTTP.
func Server(handler http.Handler, logger *slog.Logger) *http.Server {
	var spoken http.Protocols
	spoken.SetHTTP1(true)
	spoken.SetHTTP2(true)
	spoken.SetUnencryptedHTTP2(true)
	return &http.Server{
		Protocols:         &spoken,
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		MaxHeaderBytes:    32 << 10,
		IdleTimeout:       time.Minute,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
}
