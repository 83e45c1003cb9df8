package mirrorcmd_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestMirrorPersonal checks that headers, cookies and logins of the command
// line are sent only to the hosts of the seeds. The User-Agent is sent to all
// hosts.
func TestMirrorPersonal(t *testing.T) {
	t.Parallel()
	echo := peer.NginxOptions{Server: `
		location = /me { default_type text/plain; return 200 "$http_user_agent|$http_x_me|$http_cookie|$http_authorization"; }`}
	named, other := peer.Nginx(t, echo), peer.Nginx(t, echo)
	named.Put("index.html", []byte("<a href=/me>me</a> <a href=http://"+other.Addr+"/me>other</a>"))
	dir := t.TempDir()
	commandtest.Run(t, 0, "mirror", "--output-dir", dir, "--scope", "any", "--ignore-robots",
		"-A", "Some Agent", "-H", "X-Me: mine", "-b", "a=1", "-u", "user:secret", "http://"+named.Addr+"/")
	for name, text := range commandtest.Archived(t, dir) {
		if filepath.Base(name) != "me" {
			continue
		}
		want := "Some Agent|mine|a=1|Basic dXNlcjpzZWNyZXQ="
		if strings.Contains(name, strings.ReplaceAll(other.Addr, ":", "+")) {
			want = "Some Agent|||"
		}
		if text != want {
			t.Errorf("%s: %q, want %q", name, text, want)
		}
	}
	if n := len(commandtest.Archived(t, dir)); n != 3 {
		t.Errorf("got %d files, want 3", n)
	}
}

// TestMirrorMailboxes checks that the login of a mailbox applies to each of its
// messages. The login may be sent in plaintext, by the mechanism that the URL
// names.
func TestMirrorMailboxes(t *testing.T) {
	t.Parallel()
	s := peer.Dovecot(t, peer.DovecotOptions{})
	s.Add(peer.User, "INBOX", "Subject: tea\n\ncup\n")
	login, passwordAndHost := peer.User+":"+peer.Password, peer.Password+"@"+s.Addr+"/"
	for name, c := range map[string]struct {
		exit int
		args []string
	}{
		"user":                     {0, []string{"-u", login, "imap://" + s.Addr + "/"}},
		"mechanism":                {0, []string{"imap://" + peer.User + ";AUTH=PLAIN:" + passwordAndHost}},
		"mechanism as in curl":     {0, []string{"imap://" + login + ";AUTH=+LOGIN@" + s.Addr + "/"}},
		"user and mechanism":       {0, []string{"-u", login, "imap://;AUTH=PLAIN@" + s.Addr + "/"}},
		"user name in the URL":     {0, []string{"-u", login, "imap://" + peer.User + "@" + s.Addr + "/"}},
		"another user in the URL":  {8, []string{"-u", login, "imap://nobody;AUTH=PLAIN@" + s.Addr + "/"}},
		"unsupported mechanism":    {8, []string{"imap://" + peer.User + ";AUTH=CRAM-MD5:" + passwordAndHost}},
		"mechanism without a name": {2, []string{"imap://" + peer.User + ";AUTH=:" + passwordAndHost}},
	} {
		dir := t.TempDir()
		commandtest.Run(t, c.exit, append([]string{"mirror", "--output-dir", dir}, c.args...)...)
		if c.exit != 0 {
			continue
		}
		if n := len(commandtest.Archived(t, dir)); n != 3 {
			t.Errorf("%s: %d files, want two listings and a message", name, n)
		}
	}
}
