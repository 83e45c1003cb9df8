package sftp_test

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/sftp"
)

// TestKnownHosts tests which keys of a server are accepted.
func TestKnownHosts(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a", []byte("hello"))
	s := newServer(t, library(dir))
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	second, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	s.keys = append(s.keys, second)
	line := func(host string, key ssh.PublicKey) string { return host + " " + string(ssh.MarshalAuthorizedKey(key)) }
	own, also, other := s.keys[0].PublicKey(), second.PublicKey(), newKey(t).PublicKey()
	for _, test := range []struct {
		name, file string
		fault      fetch.Fault
		text       string
		port       string
		host       string // default: 192.0.2.1
	}{
		{"known", line("192.0.2.1", own), 0, "", "", ""},
		{"only one of two keys known", line("192.0.2.1", also), 0, "", "", ""},
		{"only the other of two keys known", "# comment\n\n" + line("x,192.0.2.1", own), 0, "", "", ""},
		{"hashed", hashed("192.0.2.1") + line("", own), 0, "", "", ""},
		{"pattern", line("192.0.2.*", own), 0, "", "", ""},
		{"two lines, one right", line("192.0.2.1", other) + line("192.0.2.1", own), 0, "", "", ""},
		{"other port", line("[192.0.2.1]:2222", own), 0, "", ":2222", ""},
		{"only known for another port", line("192.0.2.1", own), fetch.TLS, "is not known", ":2222", ""},
		{"pattern for all hosts", line("*", own), 0, "", "", ""},
		{"pattern for all hosts, other port", line("x,*", own), 0, "", ":2222", ""},
		{"pattern for all hosts, other key and port", line("*", other), fetch.TLS, "has changed", ":2222", ""},
		{"pattern for some hosts, other port", line("192.0.2.*", own), fetch.TLS, "is not known", ":2222", ""},
		{"key of an authority", "@cert-authority " + line("192.0.2.1", own), fetch.TLS, "is not known", "", ""},
		{"key of an authority for all hosts", "@cert-authority\t" + line("*", own), fetch.TLS, "is not known", ":2222", ""},
		{"keys of an authority and of the host", "@cert-authority " + line("*", other) + line("192.0.2.1", own), 0, "", "", ""},
		{"empty file", "", fetch.TLS, "the key of 192.0.2.1:22 is not known: SHA256:", "", ""},
		{"other host", line("192.0.2.2", own), fetch.TLS, "is not known", "", ""},
		{"changed", line("192.0.2.1", other), fetch.TLS, "has changed", "", ""},
		{"negated", line("!192.0.2.1,192.0.2.*", own), fetch.TLS, "is not known", "", ""},
		{"negated for a port", line("![192.0.2.1]:2222,*", own), fetch.TLS, "is not known", ":2222", ""},
		{"negated for another port", line("![192.0.2.1]:2222,*", own), 0, "", "", ""},
		{"pattern for all ports", line("[192.0.2.*]:*", own), 0, "", ":2222", ""},
		{"other case", line("2001:DB8::A", own), 0, "", "", "[2001:db8::a]"},
		{"negated in other case", line("!2001:DB8::A,*", own), fetch.TLS, "is not known", "", "[2001:db8::a]"},
		{"changed, other case", line("2001:DB8::A", other), fetch.TLS, "has changed", "", "[2001:db8::a]"},
		{"hashed address of version 6", hashed("2001:db8::a") + line("", own), 0, "", "", "[2001:db8::a]"},
		{"hashed for a port", hashed("[192.0.2.1]:2222") + line("", own), 0, "", ":2222", ""},
		{"revoked", "@revoked " + line("192.0.2.1", own) + line("192.0.2.1", own), fetch.TLS, "is revoked", "", ""},
		{"malformed", "192.0.2.1 ssh-ed25519 !!!\n", fetch.Local, "known hosts", "", ""},
	} {
		name := filepath.Join(t.TempDir(), "known_hosts")
		if err := os.WriteFile(name, []byte(test.file), 0o600); err != nil {
			t.Fatal(err)
		}
		o := sftp.Options{KnownHosts: []string{"/nonexistent", name}, Key: s.options().Key}
		c := schemetest.NewClient(t, sftp.Schemes(o), withDial(s))
		req := schemetest.NewRequest(t, "sftp://"+cmp.Or(test.host, "192.0.2.1")+test.port+dir+"/a")
		req.From = &fetch.Source{URL: req.URL} // no key of the user is read
		req.Auth = &fetch.Credential{User: "alice", Password: "s3cret"}
		req.From = nil
		_, body, err := schemetest.ReadRequest(t, c, req)
		if fetch.FaultOf(err) != test.fault || test.fault == 0 && body != "hello" || err != nil && !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: got %q, %v, want %v", test.name, body, err, test.fault)
		}
		if hint := override.Of(err).Kind; (hint == sftp.OverrideHostKey) != strings.Contains(test.text, "not known") {
			t.Errorf("%s: hint %q", test.name, hint)
		}
		if after, err := os.ReadFile(name); string(after) != test.file {
			t.Errorf("%s: the file was changed: %q, %v", test.name, after, err)
		}
		if errors.Is(err, fetch.Auth) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// hashed returns the hash of a name as ssh-keygen -H writes it.
func hashed(name string) string {
	salt := []byte("12345678901234567890")
	mac := hmac.New(sha1.New, salt)
	mac.Write([]byte(name))
	return "|1|" + base64.StdEncoding.EncodeToString(salt) + "|" + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
