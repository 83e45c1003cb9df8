package roundtrip_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/roundtrip"
	"github.com/anyurl/fetch/schemes"
)

func server(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Method", r.Method)
		switch r.URL.Path {
		case "/missing":
			http.Error(w, "no such page", http.StatusNotFound)
		case "/redirect":
			http.Redirect(w, r, "/echo", http.StatusFound)
		case "/away": // another origin at the same address
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
		case "/trailer":
			w.Header().Set("Trailer", "X-Sum")
			io.WriteString(w, "body")
			w.(http.Flusher).Flush()
			w.Header().Set("X-Sum", "42")
		case "/hang":
			io.WriteString(w, "begin")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			w.Header().Add("X-Two", "a")
			w.Header().Add("X-Two", "b")
			io.WriteString(w, r.Header.Get("X-Ask")+" "+r.Header.Get("Range"))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func client(t *testing.T, p fetch.Policy) *http.Client {
	c := fetch.New(fetch.Options{Policy: p}, schemes.All(schemes.Options{})...)
	t.Cleanup(func() { c.Close() })
	return &http.Client{Transport: roundtrip.Transport{Client: c}}
}

func TestRoundTrip(t *testing.T) {
	s := server(t)
	web := client(t, fetch.Typed())
	for _, test := range []struct {
		name, method, path string
		header             http.Header
		body               io.Reader
		status, text       string
		fault              fetch.Fault
	}{
		{name: "get", path: "/echo", header: http.Header{"X-Ask": {"hello"}}, status: "200 OK", text: "hello "},
		{name: "head", method: "HEAD", path: "/echo", status: "200 OK"},
		{name: "page of an error", path: "/missing", status: "404 Not Found", text: "no such page\n"},
		{name: "redirect", path: "/redirect", header: http.Header{"X-Ask": {"hello"}}, status: "200 OK", text: "hello "},
		{name: "empty body", path: "/echo", body: http.NoBody, status: "200 OK", text: " "},
		{name: "post", method: "POST", path: "/echo", fault: fetch.Unsupported},
		{name: "body", path: "/echo", body: strings.NewReader("x"), fault: fetch.Unsupported},
		{name: "other scheme refused", path: "/away?to=file:///etc/hostname", fault: fetch.BadReferral},
		{name: "metadata", path: "/away?to=http://169.254.169.254/", fault: fetch.BadAddress},
		{name: "public Referer of a local URL", path: "/echo", header: http.Header{"Referer": {"http://8.8.8.8/"}}, fault: fetch.BadAddress},
		{name: "Referer of the server", path: "/echo", header: http.Header{"Referer": {s.URL + "/"}}, status: "200 OK", text: " "},
		{name: "invalid Referer", path: "/echo", header: http.Header{"Referer": {"no url"}}, fault: fetch.BadReferral},
		{name: "line break in a field", path: "/echo", header: http.Header{"X-Ask": {"a\r\nb"}}, fault: fetch.Usage},
	} {
		t.Run(test.name, func(t *testing.T) {
			req, err := http.NewRequest(test.method, s.URL+test.path, test.body)
			if err != nil {
				t.Fatal(err)
			}
			if test.header != nil {
				req.Header = test.header
			}
			resp, err := web.Do(req)
			if test.fault != 0 {
				if !errors.Is(err, test.fault) {
					t.Errorf("%v, want %v", err, test.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			if err != nil || resp.Status != test.status || string(text) != test.text || resp.Header.Get("X-Method") != req.Method && req.Method != "" {
				t.Errorf("%s, %q, %v, %v", resp.Status, text, err, resp.Header)
			}
			if n := resp.ContentLength; req.Method != "HEAD" && n != int64(len(text)) {
				t.Errorf("ContentLength %d of %d bytes", n, len(text))
			}
		})
	}
}

// TestRedirectTrust checks that redirects from public and from unknown pages do
// not reach this machine. Under the zero Policy, a typed URL does not either.
func TestRedirectTrust(t *testing.T) {
	var from http.Response
	from.Request = &http.Request{URL: &url.URL{Scheme: "http", Host: "8.8.8.8", Path: "/"}}
	s := server(t)
	rt := client(t, fetch.Typed()).Transport
	for name, before := range map[string]*http.Response{"of another transport": &from, "without its request": {}} {
		req, err := http.NewRequest("GET", s.URL+"/echo", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Response = before
		if _, err := rt.RoundTrip(req); !errors.Is(err, fetch.BadAddress) && !errors.Is(err, fetch.BadReferral) {
			t.Errorf("%s: %v", name, err)
		}
	}
	web := client(t, fetch.Public())
	if _, err := web.Get(s.URL); !errors.Is(err, fetch.BadAddress) {
		t.Errorf("the zero Policy: %v", err)
	}
}

func TestTrailer(t *testing.T) {
	resp, err := client(t, fetch.Typed()).Get(server(t).URL + "/trailer")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || string(text) != "body" || resp.Trailer.Get("X-Sum") != "42" || resp.ContentLength != -1 {
		t.Errorf("%q, %v, %v, %d", text, err, resp.Trailer, resp.ContentLength)
	}
}

// TestLikeNetHTTP compares responses with those of package net/http.
func TestLikeNetHTTP(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/nothing":
			w.WriteHeader(http.StatusNoContent)
		case "/chunks":
			w.Header().Set("Trailer", "X-Sum, X-More")
			w.(http.Flusher).Flush()
			io.WriteString(w, "body")
			w.Header().Set("X-Sum", "42")
		default:
			io.WriteString(w, "body")
		}
	})
	for _, http2 := range []bool{false, true} {
		s := httptest.NewUnstartedServer(handler)
		s.EnableHTTP2 = http2
		s.StartTLS()
		defer s.Close()
		roots := s.Client().Transport.(*http.Transport).TLSClientConfig
		c := fetch.New(fetch.Options{Policy: fetch.Typed(), TLS: roots}, schemes.All(schemes.Options{})...)
		defer c.Close()
		for _, path := range []string{"/nothing", "/chunks", "/"} {
			var got [2]string
			for i, rt := range []http.RoundTripper{s.Client().Transport, roundtrip.Transport{Client: c}} {
				req, err := http.NewRequest("GET", s.URL+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Accept-Encoding", "identity")
				resp, err := rt.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				resp.Header.Del("Date")
				announced := ""
				if !http2 { // the http driver does not report the names for HTTP/2
					announced = fmt.Sprint(resp.Trailer)
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				got[i] = fmt.Sprintln(resp.Status, resp.Proto, resp.ProtoMajor, resp.ProtoMinor, resp.Header, resp.ContentLength,
					announced, resp.Trailer.Get("X-Sum"), string(body), err)
			}
			if got[1] != got[0] {
				t.Errorf("%s, HTTP/2 %v: got %s, want %s", path, http2, got[1], got[0])
			}
		}
	}
}

func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", server(t).URL+"/hang", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client(t, fetch.Typed()).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadFull(resp.Body, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := resp.Body.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestRedirectPeer checks that the Policy uses the address of the server that
// sent a redirect, even if http.Client wraps the body.
func TestRedirectPeer(t *testing.T) {
	to := server(t)
	from := strings.Replace(server(t).URL, "127.0.0.1", "localhost", 1)
	web := client(t, fetch.Typed())
	web.Timeout = time.Minute
	resp, err := web.Get(from + "/away?to=" + to.URL + "/echo")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	req, err := http.NewRequest("GET", to.URL+"/echo", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Referer", from+"/")
	if _, err := web.Do(req); !errors.Is(err, fetch.BadAddress) {
		t.Errorf("without the address: %v", err)
	}
}
