// Package afs implements the afs scheme, which names files of the Andrew File
// System (RFC 1738 section 5) by their global names.
//
// Pass the result of [Schemes] to fetch.New. The files are read through the
// local mount of AFS, usually /afs. The URLs afs:/afs/CELL/PATH and
// afs://CELL/PATH name the same file. No URL names a file outside the mount.
// Otherwise, the scheme behaves like the scheme file.
package afs

import (
	"cmp"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/localfile"
	"github.com/anyurl/fetch/uri"
)

// Options configures the afs scheme. The zero value is valid.
type Options struct {
	Root string // directory where AFS is mounted; "" means /afs
}

// Schemes returns the scheme afs.
func Schemes(o Options) []fetch.Scheme {
	s := localfile.Scheme{Name: "afs", Help: help, Mount: cmp.Or(o.Root, "/afs"), Locate: locate}
	return []fetch.Scheme{s.Scheme()}
}

// locate parses an afs URL. Without a host, the path may start with /afs.
func locate(u uri.URI) (p localfile.Place, err error) {
	_, user := u.Userinfo()
	_, port := u.Port()
	if _, query := u.Query(); query || user || port {
		return p, fetch.BadURL.Errorf("afs URL must not have a user, a port or a query")
	}
	path, host := u.Path(), u.Host()
	if host != "" && path == "" {
		path = "/"
	}
	if !strings.HasPrefix(path, "/") {
		return p, fetch.BadURL.Errorf("afs URL must be afs:/afs/CELL/PATH or afs://CELL/PATH")
	}
	if p, err = localfile.ParsePath(path); err != nil || host == "" {
		return p.WithoutFirst("afs"), err
	}
	t, err := fetch.TargetOf(u, 0)
	if err != nil {
		return p, err
	}
	return p.Below(t.Host), nil
}
