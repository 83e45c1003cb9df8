package sigv4_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	schemehttp "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/http/sigv4"
	"github.com/anyurl/fetch/uri"
)

func newClient(o sigv4.Options) *fetch.Client {
	return fetch.New(fetch.Options{
		Policy: fetch.Typed(), Wrap: []fetch.Middleware{sigv4.Middleware(o)},
		RedirectLogin: func(fetch.Origin) *fetch.Credential { return &fetch.Credential{User: "key", Password: "s3cret"} },
	}, schemehttp.Schemes(schemehttp.Options{})...)
}

// TestServer retrieves objects with special characters in their names from
// versitygw.
func TestServer(t *testing.T) {
	s := peer.Versitygw(t, "bucket")
	for _, name := range []string{"hello", "a b", "ü+%25", "x/y", "a=b&c"} {
		s.Put("bucket/"+name, []byte("hello"))
	}
	client := newClient(sigv4.Options{Region: "us-east-1", Service: "s3"})
	defer client.Close()
	for _, c := range []struct {
		name, path, secret, want string
		fault                    fetch.Fault
	}{
		{"plain", "/bucket/hello", peer.Password, "hello", 0},
		{"space", "/bucket/a%20b", peer.Password, "hello", 0},
		{"escaped characters", "/bucket/%C3%BC%2B%2525", peer.Password, "hello", 0},
		{"folder", "/bucket/x/y", peer.Password, "hello", 0},
		{"reserved characters", "/bucket/a=b&c", peer.Password, "hello", 0},
		{"dot segments", "/bucket/x/../hello", peer.Password, "hello", 0},
		{"query", "/bucket?prefix=x%2F&list-type=2", peer.Password, "<Key>x/y</Key>", 0},
		{"wrong key", "/bucket/hello", "wrong", "", fetch.Denied},
		{"missing", "/bucket/none", peer.Password, "", fetch.NotFound},
	} {
		u := uri.MustParse("http://" + s.Addr + c.path)
		resp, err := client.Do(t.Context(), &fetch.Request{URL: u, Auth: &fetch.Credential{User: peer.User, Password: fetch.Secret(c.secret)}})
		var body []byte
		if err == nil {
			body, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if fetch.FaultOf(err) != c.fault || !strings.Contains(string(body), c.want) {
			t.Errorf("%s: got %q, %v", c.name, body, err)
		}
	}
}

// TestDAV checks that the secret key is not sent as the password of a dav URL.
func TestDAV(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
	}))
	defer s.Close()
	client := newClient(sigv4.Options{Region: "us-east-1", Service: "s3"})
	defer client.Close()
	for _, path := range []string{"/", "/file"} {
		u := uri.MustParse("dav" + strings.TrimPrefix(s.URL, "http") + path)
		_, err := client.Do(t.Context(), &fetch.Request{URL: u, Auth: &fetch.Credential{User: "key", Password: "secret"}})
		if fetch.FaultOf(err) != fetch.Unsupported {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestRedirect checks that only requests to the typed origin are signed, also if
// the user has a login for another one, and that the secret key is never sent.
func TestRedirect(t *testing.T) {
	var other *httptest.Server
	var fields []string
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		field := r.Header.Get("Authorization")
		fields = append(fields, field)
		if strings.Contains(field, "s3cret") || strings.HasPrefix(field, "Basic") {
			t.Errorf("sent %q", field)
		}
		switch r.URL.Path {
		case "/same":
			http.Redirect(w, r, "/", http.StatusFound)
		case "/other":
			http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1), http.StatusFound)
		}
	})
	first := httptest.NewServer(handler)
	defer first.Close()
	other = httptest.NewServer(handler)
	defer other.Close()
	client := newClient(sigv4.Options{Region: "r", Service: "s"})
	defer client.Close()
	for path, want := range map[string]int{"/": 1, "/same": 2, "/other": 1} {
		fields = nil
		req := &fetch.Request{URL: uri.MustParse(first.URL + path), Auth: &fetch.Credential{User: "key", Password: "s3cret"}}
		resp, err := client.Do(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		signed := 0
		for _, f := range fields {
			if strings.HasPrefix(f, "AWS4-HMAC-SHA256 Credential=key/") {
				signed++
			}
		}
		if signed != want {
			t.Errorf("%s: %d signatures, want %d: %q", path, signed, want, fields)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]fetch.Fault{
		"aws": 0, "aws:amz": 0, "aws:amz:r": 0, "aws:amz:r:s": 0, "osc": fetch.Unsupported, "aws:x": fetch.Unsupported, "aws:amz:r:s:t": fetch.Usage,
	} {
		if _, err := sigv4.Parse(text); fetch.FaultOf(err) != want {
			t.Errorf("%s: got %v", text, err)
		}
	}
	client := newClient(sigv4.Options{})
	defer client.Close()
	_, err := client.Do(t.Context(), &fetch.Request{URL: uri.MustParse("http://localhost/"), Auth: &fetch.Credential{User: "key"}})
	if fetch.FaultOf(err) != fetch.Usage {
		t.Errorf("no region: got %v", err)
	}
}
