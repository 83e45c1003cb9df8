package http_test

import (
	"bytes"
	"errors"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/outgoing"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// message returns a Message with a body. A nil body means no body.
func message(method string, body []byte) *outgoing.Message {
	m := &outgoing.Message{Method: method, Size: int64(len(body))}
	if body != nil {
		m.Open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	return m
}

// TestOutgoing checks that the driver passes on requests without adding fields,
// and responses without interpreting them.
func TestOutgoing(t *testing.T) {
	s := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Seen", strings.Join([]string{r.Method, r.RequestURI, r.Header.Get("Content-Length"), r.UserAgent(), r.Header.Get("Accept"), string(body)}, "|"))
		switch r.URL.Path {
		case "/302":
			w.Header().Set("Location", "/next")
			w.WriteHeader(302)
		case "/206":
			w.Header().Set("Content-Range", "bytes 7-9/100")
			w.WriteHeader(206)
			io.WriteString(w, "abc")
		case "/401":
			w.Header().Set("WWW-Authenticate", "Basic realm=x")
			w.WriteHeader(401)
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, "not gzip")
		case "/304":
			w.WriteHeader(304)
		case "/503":
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(503)
		}
	}))
	defer s.Close()
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, http.Schemes(http.Options{Compressed: true, UserAgent: "own"})...)
	defer client.Close()
	for _, c := range []struct {
		about, path string
		m           *outgoing.Message
		code        int
		seen, body  string
	}{
		{"no default fields", "/", message("GET", nil), 200, "GET|/||||", ""},
		{"dot segments stay", "/a/../b", message("GET", nil), 200, "GET|/a/../b||||", ""},
		{"a body", "/", message("POST", []byte("x=1")), 200, "POST|/|3|||x=1", ""},
		{"an empty body", "/", message("PUT", []byte{}), 200, "PUT|/|0|||", ""},
		{"a redirect is not followed", "/302", message("POST", []byte("x")), 302, "POST|/302|1|||x", ""},
		{"a part without a Range field", "/206", message("GET", nil), 206, "GET|/206||||", "abc"},
		{"a challenge", "/401", message("GET", nil), 401, "GET|/401||||", ""},
		{"a content coding is kept", "/gzip", message("GET", nil), 200, "GET|/gzip||||", "not gzip"},
		{"unchanged without a condition", "/304", message("GET", nil), 304, "GET|/304||||", ""},
		{"no fallback of HEAD", "/503", message("HEAD", nil), 503, "HEAD|/503||||", ""},
	} {
		resp, err := client.Do(t.Context(), &fetch.Request{URL: uri.MustParse(s.URL + c.path), Outgoing: c.m})
		if err != nil {
			t.Errorf("%s: %v", c.about, err)
			continue
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		seen := resp.Header.Get("Seen")
		if resp.Code != c.code || seen != c.seen || string(body) != c.body || err != nil {
			t.Errorf("%s: %d %q %q %v, want %d %q %q", c.about, resp.Code, seen, body, err, c.code, c.seen, c.body)
		}
	}
}

// TestOutgoingOnce checks that a POST request is sent once if the server closes
// the connection instead of answering, also after other requests.
func TestOutgoingOnce(t *testing.T) {
	var posts atomic.Int32
	s := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.Method == "POST" {
			posts.Add(1)
			panic(nethttp.ErrAbortHandler)
		}
	}))
	defer s.Close()
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, http.Schemes(http.Options{})...)
	defer client.Close()
	u := uri.MustParse(s.URL + "/")
	for range 3 {
		if resp, err := client.Do(t.Context(), &fetch.Request{URL: u, Outgoing: message("GET", nil)}); err != nil {
			t.Error(err)
		} else {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}
	if _, err := client.Do(t.Context(), &fetch.Request{URL: u, Outgoing: message("POST", []byte("x"))}); err == nil {
		t.Error("no error")
	}
	if n := posts.Load(); n != 1 {
		t.Errorf("sent %d times", n)
	}
}

// TestOutgoingSchemes checks that only http and https have methods.
func TestOutgoingSchemes(t *testing.T) {
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, http.Schemes(http.Options{})...)
	defer client.Close()
	_, err := client.Do(t.Context(), &fetch.Request{URL: uri.MustParse("dav://127.0.0.1/"), Outgoing: message("POST", nil)})
	if !errors.Is(err, fetch.Unsupported) || !strings.Contains(err.Error(), "has no methods") {
		t.Error(err)
	}
	for _, method := range []string{"", "A B", "CONNECT"} {
		_, err := client.Do(t.Context(), &fetch.Request{URL: uri.MustParse("http://127.0.0.1/"), Outgoing: message(method, nil)})
		if !errors.Is(err, fetch.Usage) {
			t.Errorf("method %q: %v", method, err)
		}
	}
}
