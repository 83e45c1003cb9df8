package main

import (
	"bufio"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// TestServeLogin logs in with the form of fetch serve to servers that require
// Digest, or a login for a mailbox. Neither the pages nor the messages with -v
// contain a password.
func TestServeLogin(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	web := peer.Apache(t, peer.ApacheOptions{Login: "Digest"})
	web.Put("page.txt", []byte("protected"))
	mail := peer.Dovecot(t, peer.DovecotOptions{})
	mail.Add(peer.User, "INBOX", "From: bob@example.org\r\nSubject: private message\r\n\r\nbody\r\n")
	c := fetchProcess("fetch", "serve", "-v", "--listen", "127.0.0.1:0", "--allow-host", "127.0.0.1", "--live=http,imap")
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	messages := bufio.NewReader(io.TeeReader(stderr, &seen))
	first, token := "", ""
	for token == "" {
		line, err := messages.ReadString('\n')
		if err != nil {
			t.Fatalf("%v: %s", err, seen.String())
		}
		line = strings.TrimSpace(line)
		if _, address, ok := strings.Cut(line, "gateway is at "); ok {
			first = address
		}
		_, token, _ = strings.Cut(line, "logins, open ")
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	var pages strings.Builder
	read := func(resp *http.Response, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		pages.WriteString(resp.Request.URL.String() + string(body))
		return string(body)
	}
	hidden := regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)
	fields := func(page string) url.Values {
		v := url.Values{}
		for _, m := range hidden.FindAllStringSubmatch(page, -1) {
			v.Set(m[1], html.UnescapeString(m[2]))
		}
		return v
	}
	read(browser.Get(token))
	for target, want := range map[string]string{
		"http://" + web.Addr + "/page.txt": "protected", "imap://" + peer.User + "@" + mail.Addr + "/INBOX": "private message",
	} {
		form := fields(read(browser.Get(first)))
		form.Set("url", target)
		page := read(browser.PostForm(first, form))
		if q := fields(page); q.Has("confirm") {
			page = read(browser.PostForm(first, q))
		}
		for _, password := range []string{"wrong password", peer.Password} {
			if !strings.Contains(page, `type="password"`) {
				t.Fatalf("%s: the page does not ask: %s", target, page)
			}
			form = fields(page)
			form.Set("user", peer.User)
			form.Set("password", password)
			page = read(browser.PostForm(first+"logins", form))
		}
		if !strings.Contains(page, want) || strings.Contains(page, `type="password"`) {
			t.Errorf("%s: after the login: %s", target, page)
		}
	}
	c.Process.Signal(syscall.SIGTERM)
	if _, err := io.Copy(io.Discard, messages); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	for _, password := range []string{peer.Password, "wrong password", url.QueryEscape("wrong password")} {
		if strings.Contains(pages.String(), password) {
			t.Errorf("a page contains the password %q", password)
		}
		if strings.Contains(seen.String(), password) {
			t.Errorf("the messages contain the password %q", password)
		}
	}
}
