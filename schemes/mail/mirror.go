package mail

import (
	"strings"

	"github.com/anyurl/fetch/uri"
)

// isPermanent reports whether u has a UIDVALIDITY and a UID, so that it always
// names the same message.
func isPermanent(u uri.URI) bool {
	path := strings.ToLower(u.Path())
	return strings.Contains(path, ";uidvalidity=") && strings.Contains(path, ";uid=")
}

// mirrorScope returns u unchanged, because mailbox names and addresses are no
// hierarchy of folders.
func mirrorScope(u uri.URI) (uri.URI, bool) { return u, true }
