package http_test

import (
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// FuzzNoExtraCommand checks that every URL and header field results in exactly
// one request with one Host field.
func FuzzNoExtraCommand(f *testing.F) {
	f.Add("http://h/a%0d%0aDELETE%20/x?%0a#%0d", "X", "y", "u", "p", false)
	f.Add("http://u:p%0d@h//x/y", "Host", "a\r\nb", "\r\n", "\r\nX: y", true)
	f.Add("http://h/?\xff", "X\r\nY", "y", "", "", false)
	f.Add("http://h:81", "Content-Length", "5", "", "t", true)
	f.Add("http://[::1]/../../x", "Transfer-Encoding", "chunked", "", "", false)
	f.Add("http://h/", "Expect", "100-continue", "", "", false)
	f.Add("http://h/", "Connection", "upgrade", "", "", false)
	f.Fuzz(func(t *testing.T, url, name, value, user, secret string, head bool) {
		u, err := uri.Parse(url)
		if err != nil || u.Scheme() != "http" {
			return
		}
		s := &script{replies: [][]string{{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"}}}
		policy := fetch.Typed()
		policy.Connect = time.Second
		client := fetch.New(fetch.Options{
			Policy:   policy,
			Dial:     s.dial,
			Resolver: resolver{},
		}, http.Schemes(http.Options{PathAsIs: head})...)
		req := &fetch.Request{URL: u, Header: fields(name, value)}
		switch {
		case user != "":
			req.Auth = &fetch.Credential{User: user, Password: fetch.Secret(secret)}
		case secret != "":
			req.Auth = &fetch.Credential{Token: fetch.Secret(secret)}
		}
		if head {
			req.Op = fetch.Stat
		}
		_, _, err = get(t, client, req)
		client.Close()
		s.serving.Wait()
		heads := s.heads()
		if err != nil && len(heads) == 0 {
			return
		}
		if len(heads) != 1 {
			t.Fatalf("%d requests: %q", len(heads), heads)
		}
		checkHead(t, heads[0], u, 6)
	})
}

func checkHead(t *testing.T, head string, u uri.URI, maxLines int) {
	t.Helper()
	if strings.Count(head, "\n") != strings.Count(head, "\r\n") || strings.Count(head, "\r") != strings.Count(head, "\n") || strings.Contains(head, "\x00") {
		t.Errorf("bare CR or LF in %q", head)
	}
	lines := strings.Split(strings.TrimSuffix(head, "\r\n\r\n"), "\r\n")
	if parts := strings.Split(lines[0], " "); len(parts) != 3 || parts[2] != "HTTP/1.1" || !strings.HasPrefix(parts[1], "/") {
		t.Errorf("request line %q", lines[0])
	}
	hosts := 0
	for _, line := range lines[1:] {
		name, _, ok := strings.Cut(line, ":")
		if !ok || name == "" {
			t.Errorf("field %q", line)
		}
		switch strings.ToLower(name) {
		case "host":
			hosts++
		case "content-length", "transfer-encoding":
			t.Errorf("request has a framing field: %q", line)
		}
	}
	if hosts != 1 || len(lines) > maxLines {
		t.Errorf("%d Host fields, %d lines: %q", hosts, len(lines), head)
	}
	if q, ok := u.Query(); ok && !strings.HasSuffix(lines[0], "?"+q+" HTTP/1.1") {
		t.Errorf("request line %q lacks the query %q", lines[0], q)
	}
}
