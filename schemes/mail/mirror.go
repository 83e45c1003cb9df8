package mail

import (
	"strings"

	"github.com/anyurl/fetch/uri"
)

// lasting reports whether u names a message by its UID in a mailbox of known
// UIDVALIDITY.
func isPermanent(u uri.URI) bool {
	path := strings.ToLower(u.Path())
	return strings.Contains(path, ";uidvalidity=") && strings.Contains(path, ";uid=")
}

// below returns u itself, because "/" in the name of a mailbox and in an address
// makes no folder that a listing would name.
func mirrorScope(u uri.URI) (uri.URI, bool) { return u, true }
