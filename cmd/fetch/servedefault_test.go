package main

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// TestServeDefaultLogin checks that fetch serve uses the default entry of a netrc
// file only for the servers of entered URLs, whatever pages link to.
func TestServeDefaultLogin(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	var mu sync.Mutex
	got := map[string]string{} // logins by server
	server := func(name, page string) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if login := r.Header.Get("Authorization"); login != "" {
				mu.Lock()
				got[name] = login
				mu.Unlock()
			}
			if r.URL.Path == "/protected" {
				w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, page)
		}))
		t.Cleanup(s.Close)
		return s
	}
	other := server("other", "<title>other</title><a href=/protected>protected</a>")
	entered := server("entered", "<title>entered</title><a href="+strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+"/page>page</a> <a href=/protected>protected</a>")
	netrc := filepath.Join(t.TempDir(), "netrc")
	if err := os.WriteFile(netrc, []byte("default login alice password secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	first, token := startGateway(t, "--netrc-file", netrc, "--allow-host", "localhost")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
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
		return string(body)
	}
	read(browser.Get(token))
	form := url.Values{"url": {entered.URL + "/"}}
	for _, m := range regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`).FindAllStringSubmatch(read(browser.Get(first)), -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	follow := func(page, target string) string {
		t.Helper()
		m := regexp.MustCompile(`href="(/live[^"]*/` + target + `)"`).FindStringSubmatch(page)
		if m == nil {
			t.Fatalf("no link to %s: %s", target, page)
		}
		return read(browser.Get(strings.TrimSuffix(first, "/") + html.UnescapeString(m[1])))
	}
	page := read(browser.PostForm(first, form))
	follow(page, "protected")
	follow(follow(page, "page"), "protected")
	mu.Lock()
	defer mu.Unlock()
	if got["other"] != "" {
		t.Errorf("the linked server got %q", got["other"])
	}
	if got["entered"] == "" {
		t.Error("the entered server got no login")
	}
}
