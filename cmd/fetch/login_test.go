//go:build linux

package main_test

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// protected starts a server that requires the login alice:s3cret. The function
// logins returns the logins that clients have sent.
func protected(t *testing.T) (url string, logins func() []string) {
	t.Helper()
	var mu sync.Mutex
	var sent []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, ok := r.BasicAuth()
		if ok {
			mu.Lock()
			sent = append(sent, user+":"+password)
			mu.Unlock()
		}
		switch {
		case user+":"+password != "alice:s3cret":
			w.Header().Set("WWW-Authenticate", `Basic realm="`+strings.Repeat("private", 100)+`"`)
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/again":
			http.Redirect(w, r, "/", http.StatusFound)
		default:
			w.Write([]byte("hello\n"))
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return sent
	}
}

// TestPasswordWithoutTerminal checks where the password of a URL with only a
// user name comes from, if no terminal can be asked.
func TestPasswordWithoutTerminal(t *testing.T) {
	fetch := commandtest.Fetch(t)
	url, logins := protected(t)
	alice := strings.Replace(url, "http://", "http://alice@", 1)
	proxy := strings.Replace(url, "http://", "http://bob@", 1)
	for _, c := range []struct {
		name, password string // password is the value of FETCH_PASSWORD; "-": not set
		args           []string
		code           int
		stderr         string
	}{
		{"no password", "-", []string{alice + "/"}, 6, "no password for alice"},
		{"hint", "-", []string{alice + "/"}, 6, "-u USER, which asks for the password or reads FETCH_PASSWORD, or --netrc"},
		{"user of a flag", "-", []string{"-u", "alice", url + "/"}, 6, "no password for alice"},
		{"server without a user name", "-", []string{url + "/"}, 6, "-u USER"},
		{"user of the proxy", "-", []string{"-x", url, "-U", "bob", url + "/"}, 6, "no password for bob at the proxy"},
		{"user in the URL of the proxy", "s3cret", []string{"-x", proxy, url + "/"}, 6, "no password for bob at the proxy"},
		{"several URLs", "-", []string{"-Z", alice + "/1", alice + "/2"}, 6, "no password for alice"},
		{"mirror", "-", []string{"mirror", "--ignore-robots", "--output-dir", t.TempDir(), alice + "/"}, 8, "no password for alice"},
		{"mirror with the user of a flag", "-", []string{"mirror", "--output-dir", t.TempDir(), "-u", "alice", url + "/"}, 6, "no password for alice"},
		{"empty password", "-", []string{strings.Replace(url, "http://", "http://alice:@", 1) + "/"}, 6, "401"},
		{"variable", "s3cret", []string{alice + "/"}, 0, ""},
		{"variable, digest allowed", "s3cret", []string{"--anyauth", alice + "/"}, 0, ""},
		{"variable and redirect", "s3cret", []string{alice + "/again"}, 0, ""},
		{"variable and several URLs", "s3cret", []string{"-Z", alice + "/1", alice + "/2"}, 0, ""},
		{"variable and mirror", "s3cret", []string{"mirror", "--ignore-robots", "--output-dir", t.TempDir(), alice + "/"}, 0, ""},
		{"wrong password in the variable", "wrong", []string{alice + "/"}, 6, "401"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.password != "-" {
				t.Setenv("FETCH_PASSWORD", c.password)
			}
			before := len(logins())
			e := commandtest.Exec(t, exec.Command(fetch, append(c.args, "--no-config", "--retry", "0")...))
			if e.Code != c.code || !strings.Contains(e.Stderr, c.stderr) {
				t.Errorf("exit code %d, want %d: %s", e.Code, c.code, e.Stderr)
			}
			if sent := logins()[before:]; c.password == "-" && c.name != "empty password" && len(sent) > 0 {
				t.Errorf("sent the logins %q", sent)
			}
		})
	}
}

// lockedKey returns a certificate and its private key, encrypted by openssl with
// the given options and the passphrase "open sesame".
func lockedKey(t *testing.T, args ...string) (cert, key string) {
	t.Helper()
	c := peer.NewCert(t, peer.CertOptions{})
	key = filepath.Join(t.TempDir(), "key.pem")
	args = append(args, "-in", c.KeyFile, "-out", key, "-passout", "pass:open sesame")
	if out, err := exec.Command(peer.Need(t, "openssl", "openssl"), args...).CombinedOutput(); err != nil {
		t.Fatalf("openssl: %v: %s", err, out)
	}
	return c.File, key
}

// TestKeyPassphrase checks that the passphrase of the key for a client
// certificate is requested on a terminal.
func TestKeyPassphrase(t *testing.T) {
	fetch := commandtest.Fetch(t)
	url, _ := protected(t)
	url = strings.Replace(url, "http://", "http://alice:s3cret@", 1) + "/"
	for name, args := range map[string][]string{"PKCS8": {"pkcs8", "-topk8"}, "traditional": {"ec", "-aes256"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cert, key := lockedKey(t, args...)
			e := commandtest.Exec(t, exec.Command(fetch, "--no-config", "--cert", cert, "--key", key, url))
			if e.Code == 0 || !strings.Contains(e.Stderr, key+": the key has a passphrase, and there is no terminal") {
				t.Errorf("without a terminal: exit code %d: %s", e.Code, e.Stderr)
			}
			s := newTmuxSession(t)
			s.start(fetch + " --no-config --cert " + cert + " --key " + key + " " + url)
			s.waitForText("Passphrase for ")
			s.typeLine("wrong")
			s.waitFor(func() bool { return strings.Count(s.run("capture-pane", "-p", "-J"), "Passphrase for ") == 2 },
				func() string { return "no second prompt" })
			s.typeLine("open sesame")
			s.waitForExit(0)
		})
	}
}
