package main

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// TestServeKeys checks that fetch serve uses the access key of s3 and the
// password in FETCH_PASSWORD only for browsers with a session.
func TestServeKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "very secret key")
	t.Setenv("FETCH_PASSWORD", "very secret password")
	var mu sync.Mutex
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		got = append(got, r.URL.Path+" "+r.Header.Get("Authorization"))
		mu.Unlock()
		if r.Header.Get("Authorization") == "" {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, "private")
	}))
	defer s.Close()
	address := strings.TrimPrefix(s.URL, "http://")
	first, token := startGateway(t, "--s3-endpoint", s.URL)
	hidden := regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)
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
	fields := func(page string) url.Values {
		v := url.Values{}
		for _, m := range hidden.FindAllStringSubmatch(page, -1) {
			v.Set(m[1], html.UnescapeString(m[2]))
		}
		return v
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		session bool
		url     string
		sends   bool // the server gets a login
	}{
		{"s3 without a session", false, "s3://bucket/private.txt", false},
		{"s3 listing without a session", false, "s3://bucket/", false},
		{"name without a session", false, "http://alice@" + address + "/page", false},
		{"s3 in a session", true, "s3://bucket/private.txt", true},
		{"name in a session", true, "http://alice@" + address + "/page", false},
	} {
		got = nil
		browser := &http.Client{}
		if c.session {
			browser.Jar = jar
			read(browser.Get(token))
		}
		form := fields(read(browser.Get(first)))
		form.Set("url", c.url)
		page := read(browser.PostForm(first, form))
		if q := fields(page); q.Has("confirm") {
			page = read(browser.PostForm(first, q))
		}
		mu.Lock()
		sent := strings.Join(got, "\n")
		mu.Unlock()
		if sent == "" {
			t.Errorf("%s: no request: %s", c.name, page)
		}
		if sends := strings.Contains(sent, "Basic ") || strings.Contains(sent, "AWS4-"); sends != c.sends {
			t.Errorf("%s: the server got %q", c.name, sent)
		}
	}
}
