package http_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
)

// TestRedirectToIDNA checks that an internationalized host in a Location is
// converted to ASCII before the policy check and the DNS query.
func TestRedirectToIDNA(t *testing.T) {
	for _, test := range []struct {
		location, want, host string
		fault                fetch.Fault
	}{
		{"http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC", "xn--bcher-kva.example", 0},
		{"//b%C3%BCcher.example/", "http://xn--bcher-kva.example/", "xn--bcher-kva.example", 0},
		{"http://１２７.0.0.1/", "", "", fetch.BadAddress},
		{"http://ｌocalhost/", "", "", fetch.BadAddress},
		{"http://b\xfccher.example/", "", "", fetch.Protocol},
	} {
		s := &script{replies: [][]string{{"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + test.location + "\r\n\r\n"}, {ok}}}
		names := &hostResolver{addrs: map[string]string{"a.example": "8.8.8.8", "xn--bcher-kva.example": "8.8.8.8"}}
		client := s.newClient(t, http.Options{}, func(o *fetch.Options) { o.Resolver = names })
		resp, _, err := get(t, client, newRequest("http://a.example/"))
		client.Close()
		s.serving.Wait()
		if test.fault != 0 {
			if !errors.Is(err, test.fault) || s.connCount() != 1 {
				t.Errorf("%q: got %v, %d connections, want %v", test.location, err, s.connCount(), test.fault)
			}
			continue
		}
		if err != nil || resp.URL.Unredacted() != test.want || !strings.Contains(s.heads()[1], "\r\nHost: "+test.host+"\r\n") {
			t.Errorf("%q: got %v, sent %q, want %s", test.location, err, s.heads(), test.want)
		}
	}
}
