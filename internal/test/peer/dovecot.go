package peer

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// DovecotOptions configures dovecot. By default it accepts logins over
// plaintext connections with PLAIN, LOGIN and ANONYMOUS.
type DovecotOptions struct {
	POP3   bool              // POP3 in place of IMAP
	TLS    bool              // STARTTLS on Addr, TLS from the first byte on TLSAddr
	Cert   *Cert             // nil: NewCert with zero options
	Users  map[string]string // name to password; nil: User with Password
	Config []string          // further lines: "disable_plaintext_auth = yes"
}

// A Mail is a running dovecot server.
type Mail struct {
	*Server
	added int
}

// Dovecot starts the IMAP or POP3 server dovecot (Debian dovecot-imapd,
// dovecot-pop3d).
func Dovecot(t TB, opts DovecotOptions) *Mail {
	t.Helper()
	program := Need(t, "dovecot", "dovecot-core")
	greeting := "* OK [CAPABILITY " // dovecot first announces that it is starting
	if opts.POP3 {
		packageRoot(t, "dovecot-pop3d", "usr/lib/dovecot/pop3")
		greeting = "+OK "
	} else {
		packageRoot(t, "dovecot-imapd", "usr/lib/dovecot/imap")
	}
	NeedRoot(t, "dovecot")
	s := newServer(t)
	if opts.TLS {
		s.certify(opts.Cert)
	}
	users := opts.Users
	if users == nil {
		users = map[string]string{User: Password}
	}
	var passwd strings.Builder
	for _, name := range slices.Sorted(maps.Keys(users)) {
		fmt.Fprintf(&passwd, "%s:{PLAIN}%s\n", name, users[name])
	}
	s.config("passwd", passwd.String())
	s.Home = filepath.Join(s.Dir, "mail")
	s.mkdir(s.Home, mailUser)
	s.start(func(base uint16) command {
		s.Addr = addr(base)
		if s.Cert != nil {
			s.TLSAddr = addr(base + 1)
		}
		return command{path: program, args: []string{"-F", "-c", s.config("dovecot.conf", dovecotConfig(s, opts))}}
	})
	s.greeted(s.Addr, greeting)
	return &Mail{Server: s}
}

// Add delivers a message to a mailbox of user. Add creates the mailbox if
// necessary. Lines end in CRLF or LF. UIDs follow the order of the calls. All
// messages have the INTERNALDATE 2024-01-01 00:00 UTC. The UIDVALIDITY of the
// mailbox is 1600000000.
func (m *Mail) Add(user, mailbox, message string) {
	m.t.Helper()
	dir := filepath.Join(m.Home, user)
	m.mkdir(dir, mailUser)
	if mailbox != "INBOX" {
		dir = filepath.Join(dir, "."+strings.ReplaceAll(mailbox, "/", "."))
		m.mkdir(dir, mailUser)
	}
	for _, sub := range []string{"cur", "new", "tmp"} {
		m.mkdir(filepath.Join(dir, sub), mailUser)
	}
	if list := filepath.Join(dir, "dovecot-uidlist"); !exists(list) {
		m.write(list, []byte("3 V1600000000 N1 G0123456789abcdef0123456789abcdef\n"), 0o600, mailUser)
	}
	m.added++
	name := fmt.Sprintf("%010d.peer:2,", m.added)
	file := filepath.Join(dir, "cur", name)
	m.write(file, []byte(strings.ReplaceAll(message, "\r\n", "\n")), 0o600, mailUser)
	received := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(file, received, received); err != nil {
		m.t.Fatalf("peer: %v", err)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// mailUser is the system account that owns the files of mailboxes.
const mailUser = "nobody"

func dovecotConfig(s *Server, opts DovecotOptions) string {
	ssl, imaps, protocol := "ssl = no", uint16(0), "imap"
	if opts.POP3 {
		protocol = "pop3"
	}
	if s.Cert != nil {
		ssl = fmt.Sprintf("ssl = yes\nssl_cert = <%s\nssl_key = <%s", s.Cert.File, s.Cert.KeyFile)
		imaps = port(s.TLSAddr)
	}
	return fmt.Sprintf(`
base_dir = %[1]s/run
state_dir = %[1]s/state
log_path = /dev/stderr
protocols = %[9]s
listen = %[2]s
%[3]s
disable_plaintext_auth = no
auth_mechanisms = plain login anonymous
auth_anonymous_username = anonymous
auth_failure_delay = 0
first_valid_uid = 1
mail_location = maildir:%[4]s/%%u
namespace inbox {
	inbox = yes
	separator = /
}
passdb {
	driver = passwd-file
	args = %[1]s/passwd
}
userdb {
	driver = static
	args = uid=%[5]s gid=nogroup home=%[4]s/%%u
}
service %[9]s-login {
	inet_listener %[9]s {
		port = %[6]d
	}
	inet_listener %[9]ss {
		port = %[7]d
	}
}
service anvil {
	unix_listener anvil-auth-penalty {
		mode = 0
	}
}
%[8]s
`, s.Dir, host, ssl, s.Home, mailUser, port(s.Addr), imaps, strings.Join(opts.Config, "\n"), protocol)
}
