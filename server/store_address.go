package server

import "net/url"

// Place is where runs are kept, as people may read it: the address of the database without a
// password, or the state folder.
func (srv *Server) Place() string {
	if srv.Config.Store == "" {
		return srv.Dir
	}
	return WithoutPassword(srv.Config.Store)
}

// WithoutPassword is the address of a store as it may be shown.
func WithoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "postgres://…"
	}
	if _, ok := u.User.Password(); ok {
		u.User = url.User(u.User.Username())
	}
	if q := u.Query(); q.Has("password") {
		q.Del("password")
		u.RawQuery = q.Encode()
	}
	return u.String()
}
