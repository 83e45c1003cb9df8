package peer

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Courier is a running Courier IMAP server.
type Courier struct {
	*Server
	added int
}

// CourierIMAP starts the IMAP server of Courier (Debian courier-imap) with the
// mailbox INBOX. Each connection is already authenticated (PREAUTH). The
// UIDVALIDITY of the mailbox is the time of each EXAMINE, because no client
// opens the mailbox for writing.
func CourierIMAP(t TB) *Courier {
	t.Helper()
	program := filepath.Join(packageRoot(t, "courier-imap", "usr/bin/imapd"), "usr/bin/imapd")
	library := filepath.Join(packageRoot(t, "courier-authlib", "usr/lib/libcourierauth.so.0"), "usr/lib")
	s := newServer(t)
	s.Home = filepath.Join(s.Dir, "Maildir")
	account := unprivileged()
	for _, dir := range []string{"", "cur", "new", "tmp"} {
		s.mkdir(filepath.Join(s.Home, dir), account)
	}
	s.inetd(func() command {
		return command{path: program, args: []string{s.Home}, user: account, env: []string{
			"LD_LIBRARY_PATH=" + library, "AUTHENTICATED=" + User, "MAILDIRPATH=" + s.Home,
			"IMAP_CAPABILITY=IMAP4rev1 UIDPLUS CHILDREN NAMESPACE SORT IDLE"}}
	})
	return &Courier{Server: s}
}

// Add delivers a message to INBOX. UIDs follow the order of the calls.
func (c *Courier) Add(message string) {
	c.t.Helper()
	c.added++
	file := filepath.Join(c.Home, "cur", fmt.Sprintf("%010d.peer:2,", c.added))
	c.write(file, []byte(strings.ReplaceAll(message, "\r\n", "\n")), 0o600, unprivileged())
}
