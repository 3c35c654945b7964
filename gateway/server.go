package gateway

import (
	"log/slog"
	"net/http"
	"time"
)

// Server returns an http.Server for a Guard, with limits on slow clients (S12): 5 s for the headers,
// which may have 32 KiB, and a minute between two requests. There is no limit on answers as a whole,
// because event streams stay open; each of their writes has its own. HTTP/2 is also spoken without
// TLS, as gRPC clients do. logger gets what goes wrong below HTTP.
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
