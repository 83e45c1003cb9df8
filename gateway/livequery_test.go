package gateway

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// TestLiveSearch searches an index of a gopher server with the form of its page.
func TestLiveSearch(t *testing.T) {
	s := peer.Gophernicus(t, peer.GophernicusOptions{})
	script := s.Put("cgi-bin/search", []byte("#!/bin/sh\necho \"ifound $QUERY_STRING\"\n"))
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	h := newLive(t, nil)
	index := "gopher://" + s.Addr + "/7/cgi-bin/search"
	w := get(h, "GET", "/live/"+index)
	fields := fieldsOf(w.Body.String())
	if w.Code != 200 || fields.Get("url") != index || !strings.Contains(w.Body.String(), `name="words"`) {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	fields.Set("words", "blue moon")
	w = get(h, "GET", "/live?"+fields.Encode(), "Sec-Fetch-Site: same-origin")
	to := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || !strings.HasSuffix(to, "/"+index+"%09blue%20moon") {
		t.Fatalf("%d: %s", w.Code, to)
	}
	if w = get(h, "GET", to, "Sec-Fetch-Site: same-origin"); w.Code != 200 || !strings.Contains(w.Body.String(), "found blue moon") {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
	for name, c := range map[string]struct {
		query  string
		fields []string
		status int
	}{
		"cross-site":        {fields.Encode(), []string{"Sec-Fetch-Site: cross-site"}, 403},
		"foreign Origin":    {fields.Encode(), []string{"Origin: http://evil.example"}, 403},
		"no words":          {"url=" + url.QueryEscape(index), nil, 400},
		"no URL":            {"words=x", nil, 400},
		"no index":          {"words=x&url=file%3A%2F%2F%2F", nil, 400},
		"line end in words": {"words=a%0D%0Ab&url=" + url.QueryEscape(index), nil, 400},
	} {
		if w := get(h, "GET", "/live?"+c.query, c.fields...); w.Code != c.status {
			t.Errorf("%s: %d, want %d: %s", name, w.Code, c.status, w.Header().Get("Location"))
		}
	}
}

// TestLiveAsk fills in the form of a Gopher+ item.
func TestLiveAsk(t *testing.T) {
	s := peer.Pygopherd(t, peer.PygopherdOptions{})
	s.Put("form.txt", []byte("thank you\n"))
	s.Put("form.txt.ask", []byte("Ask: Your name\nAskL: Your tale\n"))
	h := newLive(t, nil)
	item := "gopher://" + s.Addr + "/0/form.txt%09%09?"
	w := get(h, "GET", "/live/"+item)
	fields := fieldsOf(w.Body.String())
	if w.Code != 200 || fields.Get("url") != item || !strings.Contains(w.Body.String(), "Your tale") {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	fields.Set("1", "Alice <b>")
	fields.Set("2", "one\r\ntwo")
	w = post(h, "/live", fields, "Origin: http://localhost:8700", "Sec-Fetch-Site: same-origin")
	to := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || !strings.Contains(to, "Alice%20") {
		t.Fatalf("%d: %s %s", w.Code, to, w.Body)
	}
	if w = get(h, "GET", to, "Sec-Fetch-Site: same-origin"); w.Code != 200 || !strings.Contains(w.Body.String(), "thank you") {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
	fields.Set("1", "a\r\nDELETE")
	if w = post(h, "/live", fields); w.Code != 400 {
		t.Errorf("a line end in a line: %d %s", w.Code, w.Header().Get("Location"))
	}
	fields.Set("1", "Alice")
	for _, field := range []string{"Origin: http://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site"} {
		if w = post(h, "/live", fields, field); w.Code != 403 {
			t.Errorf("%s: %d", field, w.Code)
		}
	}
	fields.Del("token")
	if w = post(h, "/live", fields); w.Code != 403 {
		t.Errorf("no token: %d", w.Code)
	}
}
