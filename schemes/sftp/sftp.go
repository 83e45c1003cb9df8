// Package sftp implements the schemes sftp and scp: files and directories of SSH
// servers, read by the SSH File Transfer Protocol, version 3
// (draft-ietf-secsh-filexfer-02, and the extensions of OpenSSH). The scheme scp
// is another name for sftp. It never runs a remote command.
//
// Pass the result of [Schemes] to fetch.New. A URL of a directory ends in "/". A
// path that starts with "/~/" is relative to the home directory of the user, as
// in curl.
//
// The key of a server must be in a file of known hosts. A server with an unknown
// or changed key is rejected with the Fault TLS. Keys of the user are used only
// for URLs that the user entered, and for links within the same server.
package sftp

import (
	"context"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/uri"
)

// Options configures the schemes sftp and scp. The zero value is valid.
type Options struct {
	// KnownHosts lists files with the keys of servers, in the format of
	// OpenSSH. If it is nil, the files are ~/.ssh/known_hosts and
	// /etc/ssh/ssh_known_hosts. Missing files are ignored.
	KnownHosts []string

	// HostKey is the SHA-256 digest of the key of the server, in base64 without
	// padding. A prefix "SHA256:" is ignored. If it is set, KnownHosts is not
	// used.
	HostKey string

	// Key is the name of a file with a private key of the user. If it is "",
	// the keys of the SSH agent and the default files in ~/.ssh are used.
	Key string

	// Passphrase returns the passphrase of the private key in a file, for example
	// by asking the user. It is called when the server has accepted the public
	// key. If Passphrase is nil, keys with a passphrase are not used.
	Passphrase func(ctx context.Context, file string) (fetch.Secret, error)
}

// Schemes returns the schemes sftp and scp.
func Schemes(o Options) []fetch.Scheme {
	return []fetch.Scheme{o.scheme("sftp"), o.scheme("scp")}
}

func (o Options) scheme(name string) fetch.Scheme {
	return fetch.Scheme{
		Name:   name,
		Port:   port,
		Help:   help,
		Ports:  scheme.Ports{Class: scheme.TextPorts},
		Links:  scheme.Links{To: []string{name}, Confined: true, From: []string{name}},
		Secure: true,
		Traits: scheme.Traits{ReportsSize: true, ListsExactSizes: true, WeakValidators: true, ControlConn: true, UserKeys: true,
			Listing: scheme.Directory, Parents: scheme.Folders},
		Mirror: scheme.Mirroring{Record: scheme.RecordLines, Files: scheme.FileNames{Native: true}},
		Plan:   plan,
		Open: func(env fetch.Env) fetch.Driver {
			d := &driver{options: o, env: env}
			d.idle.Done, d.idle.IdleTimeout = env.Done, 30*time.Second
			return d
		},
		Menu: entries.Menu,
	}
}

const port = 22

// A locator is a parsed URL.
type locator struct {
	path string // as sent to the server; a relative path starts in the home directory
	list bool   // the URL names a directory
}

// locate parses an sftp URL.
func locate(u uri.URI) (l locator, err error) {
	if u.Host() == "" {
		return l, fetch.BadURL.Errorf("sftp URL must have a host, such as sftp://HOST/PATH")
	}
	if _, ok := u.Query(); ok {
		return l, fetch.BadURL.Errorf(`sftp URL must not have a query: write "?" as %%3F`)
	}
	path, err := uri.Unescape(u.Path())
	switch {
	case err != nil:
		return l, fetch.BadURL.With(err)
	case strings.IndexByte(path, 0) >= 0:
		return l, fetch.BadURL.Errorf("NUL in a file name")
	case len(path) > maxPath:
		return l, fetch.BadURL.Errorf("path longer than %d bytes", maxPath)
	}
	l.list = path == "" || strings.HasSuffix(path, "/") || path == "/~"
	if rest, ok := strings.CutPrefix(path, "/~/"); ok || path == "/~" {
		path = strings.TrimLeft(rest, "/")
		if !ok || path == "" {
			path = "."
		}
	}
	if l.path = strings.TrimRight(path, "/"); l.path == "" {
		l.path = "/"
	}
	return l, nil
}

// maxPath is the maximum length of a path in bytes.
const maxPath = 32 << 10

// plan returns the SFTP requests that the driver sends for req.
func plan(req *fetch.Request) ([]scheme.Step, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	steps := []scheme.Step{{Verb: "STAT", Arg: l.path}}
	switch {
	case req.Op == fetch.Stat:
	case l.list:
		steps = append(steps, scheme.Step{Verb: "OPENDIR", Arg: l.path}, scheme.Step{Verb: "READDIR"})
	default:
		steps = append(steps, scheme.Step{Verb: "OPEN", Arg: l.path}, scheme.Step{Verb: "READ"})
	}
	return steps, nil
}

var _ sessions.Session = (*session)(nil)
