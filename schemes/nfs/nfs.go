// Package nfs implements nfs URLs: files and directories of NFS servers (RFC
// 2224).
//
// Pass the result of Schemes to fetch.New. A URL has this form:
//
//	nfs://H/PATH
//
// The driver uses NFS version 3 over TCP (RFC 1813). PATH is relative to the
// public file handle of the server. A server without a public file handle is
// mounted, and PATH then begins with the directory that the server exports. The
// driver only reads.
//
// A symbolic link is followed if its target is in the same export.
package nfs

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// Options configures the scheme. The zero value is valid.
type Options struct {
	// User is the identity in the requests. Servers do not verify it. If
	// User is nil, the user id and the group id are 65534.
	User *User

	// MountPort is the port of the MOUNT service. It may be below 1024. The driver
	// then mounts the server without trying its public file handle. If MountPort
	// is zero and the server has no public file handle, the driver tries the port
	// of NFS and then queries the portmapper.
	MountPort uint16
}

// OverrideMountPort is the [override.Kind] for a server whose portmapper returns
// a port below 1024. Its value is the port.
const OverrideMountPort override.Kind = "nfs.Options.MountPort"

// A User is an identity for AUTH_SYS.
type User struct{ UID, GID uint32 }

// Schemes returns the nfs scheme.
func Schemes(o Options) []fetch.Scheme {
	if o.User == nil {
		o.User = &User{65534, 65534}
	}
	peers := []uint16{portmapPort}
	if o.MountPort != 0 {
		peers = append(peers, o.MountPort)
	}
	return []fetch.Scheme{{
		Name:  "nfs",
		Port:  port,
		Help:  help,
		Ports: scheme.Ports{Peer: peers, Class: scheme.TextPorts},
		Links: scheme.Links{To: []string{"nfs"}},
		Traits: scheme.Traits{ReportsSize: true, ListsExactSizes: true, WeakValidators: true,
			Listing: scheme.Directory, Parents: scheme.Folders},
		Mirror: scheme.Mirroring{Files: scheme.FileNames{Native: true}},
		Plan:   o.plan,
		Open: func(env fetch.Env) fetch.Driver {
			return &driver{Options: o, env: env, idle: sessions.Pool[*session]{Done: env.Done}}
		},
		Menu: entries.Menu,
	}}
}

const (
	port        = 2049
	portmapPort = 111
	proto       = "NFSv3"
)
