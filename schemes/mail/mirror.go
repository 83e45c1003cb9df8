package mail

import (
	"strings"

	"github.com/anyurl/fetch/uri"
)

// isPermanent reports whether the URL always refers to the same message. Such a
// URL includes UIDVALIDITY and a UID.
func isPermanent(u uri.URI) bool {
	path := strings.ToLower(u.Path())
	return strings.Contains(path, ";uidvalidity=") && strings.Contains(path, ";uid=")
}

// mirrorScope returns u as the URL prefix that limits a mirror run. Unlike file
// paths, mailbox names and mail addresses have no parent folder.
func mirrorScope(u uri.URI) (uri.URI, bool) { return u, true }
