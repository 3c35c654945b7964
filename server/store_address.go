package server

import "net/url"

// Place is where runs are kept, for people to read: the database's address without its
// password, or the state folder.
func (srv *Server) Place() string {
	if srv.Config.Store == "" {
		return srv.Dir
	}
	return WithoutPassword(srv.Config.Store)
}

// WithoutPassword is a store's address without its password.
func WithoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "postgres://…"
	}
	if _, ok := u.User.Password(); ok {
		u.User = url.User(u.User.Username())
	}
	if q := u.Query(); q.Has("password") || q.Has("sslpassword") {
		q.Del("password")
		q.Del("sslpassword")
		u.RawQuery = q.Encode()
	}
	return u.String()
}
