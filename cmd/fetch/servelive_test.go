package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/servecmd"
	"github.com/anyurl/fetch/internal/test/peer"
)

// startGateway runs fetch serve with args. It returns the URL of the first page,
// and the address with the token.
func startGateway(t *testing.T, args ...string) (first, token string) {
	t.Helper()
	c := fetchProcess(append([]string{"fetch", "serve", "--listen", "127.0.0.1:0", "--allow-host", "127.0.0.1"}, args...)...)
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Signal(syscall.SIGTERM)
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	})
	lines := bufio.NewScanner(stderr)
	for token == "" && lines.Scan() {
		if _, url, ok := strings.Cut(lines.Text(), "gateway is at "); ok {
			first = url
		} else if _, url, ok := strings.Cut(lines.Text(), "logins, open "); ok {
			token = url
		} else {
			t.Fatalf("unexpected message: %s", lines.Text())
		}
	}
	return first, token
}

// TestServerURL checks that a browser can open the URL that the command prints.
func TestServerURL(t *testing.T) {
	for listener, want := range map[string]string{
		"127.0.0.1:80": "http://127.0.0.1:80", "[::1]:8700": "http://[::1]:8700",
		"[::]:80": "http://localhost:80", "0.0.0.0:8700": "http://localhost:8700",
	} {
		if got := servecmd.ServerURL(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(listener))); got != want {
			t.Errorf("%s: %s, want %s", listener, got, want)
		}
	}
}

// TestServePersonal checks that only a browser with the token can use netrc,
// cookies, client certificates, files and mailboxes.
func TestServePersonal(t *testing.T) {
	web := peer.Apache(t, peer.ApacheOptions{Login: "Basic"})
	web.Put("page.txt", []byte("protected"))
	digest := peer.Apache(t, peer.ApacheOptions{Login: "Digest"})
	digest.Put("page.txt", []byte("protected"))
	cert := peer.NewCert(t, peer.CertOptions{})
	open := peer.Nginx(t, peer.NginxOptions{TLS: true, Server: "ssl_client_certificate " + cert.File + "; ssl_verify_client optional_no_ca;" +
		`location = /who { default_type text/plain; return 200 "cookie=$http_cookie certificate=$ssl_client_fingerprint agent=$http_user_agent coding=$http_accept_encoding"; }`})
	mail := peer.Dovecot(t, peer.DovecotOptions{})
	mail.Add(peer.User, "INBOX", "From: bob@example.org\r\nSubject: private message\r\n\r\nbody\r\n")
	ftp := peer.Vsftpd(t, peer.FTPOptions{})
	ftp.PutHome("diary.txt", []byte("dear diary"))

	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	netrc := file("netrc", fmt.Sprintf("machine 127.0.0.1 login %s password %s\n", peer.User, peer.Password))
	cookies := file("cookies", "127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tabc\n")
	file("note.txt", "local note")

	first, token := startGateway(t, "--netrc-file", netrc, "--cookie", cookies, "-A", "tester", "-k", "--cert", cert.File, "--key", cert.KeyFile)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browsers := map[bool]*http.Client{false: {}, true: {Jar: jar}}
	send := func(personal bool, method, url, site string, form url.Values) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		if form != nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		for _, field := range []string{"Site: " + site, "Mode: navigate", "Dest: document"} {
			name, value, _ := strings.Cut(field, ": ")
			r.Header.Set("Sec-Fetch-"+name, value)
		}
		resp, err := browsers[personal].Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(body), peer.Password) {
			t.Errorf("%s: the page contains the password", url)
		}
		return resp.StatusCode, string(body)
	}
	// enter sends the form of the first page, as a user who enters a URL.
	formToken := regexp.MustCompile(`name="token" value="([^"]+)"`)
	enter := func(personal bool, text string) (int, string) {
		_, page := send(personal, "GET", first, "none", nil)
		token := formToken.FindStringSubmatch(page)
		if token == nil {
			t.Fatalf("the first page has no form: %s", page)
		}
		return send(personal, "POST", first, "same-origin", url.Values{"url": {text}, "token": {token[1]}})
	}
	if status, body := send(true, "GET", token, "none", nil); status != 200 || !strings.Contains(body, `that need your <a href="/logins">logins</a>`) {
		t.Fatalf("token: %d %s", status, body)
	}
	for name, c := range map[string]struct {
		url             string
		status          int // without the token
		want, forbidden string
	}{
		"netrc for http":     {"http://" + web.Addr + "/page.txt", 401, "protected", "protected"},
		"netrc for Digest":   {"http://" + digest.Addr + "/page.txt", 401, "protected", "protected"},
		"netrc for ftp":      {"ftp://" + ftp.Addr + "/diary.txt", 404, "dear diary", "dear diary"},
		"cookies":            {"http://" + open.Addr + "/who", 200, "cookie=session=abc", "abc"},
		"no cookies":         {"http://" + open.Addr + "/who", 200, "agent=tester", "session"},
		"compression":        {"http://" + open.Addr + "/who", 200, "coding=gzip", "session"},
		"client certificate": {"https://" + open.TLSAddr + "/who", 200, "certificate=", "certificate=0"},
		"mailbox":            {"imap://" + peer.User + "@" + mail.Addr + "/INBOX", 403, "private message", "private message"},
		"file":               {"file://" + dir + "/note.txt", 403, "local note", "local note"},
		"directory":          {"file://" + dir + "/", 403, "note.txt", "note.txt"},
	} {
		if status, body := enter(true, c.url); status != 200 || !strings.Contains(body, c.want) {
			t.Errorf("%s, with the token: %d, without %q: %s", name, status, c.want, body)
		}
		if status, body := enter(false, c.url); status != c.status || strings.Contains(body, c.forbidden) {
			t.Errorf("%s, without the token: %d, want %d: %s", name, status, c.status, body)
		}
	}
	_, with := enter(true, "https://"+open.TLSAddr+"/who")
	if _, without := enter(false, "https://"+open.TLSAddr+"/who"); !strings.Contains(without, "certificate= ") || strings.Contains(with, "certificate= ") {
		t.Errorf("client certificate: with the token %s\nwithout %s", with, without)
	}
}
