package http_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// A hostResolver is a resolver that records the names of its queries.
type hostResolver struct {
	addrs map[string]string // addresses per name, separated by spaces
	mu    sync.Mutex
	names []string
}

func (h *hostResolver) LookupNetIP(_ context.Context, _, name string) (found []netip.Addr, err error) {
	name = strings.TrimSuffix(name, ".")
	h.mu.Lock()
	defer h.mu.Unlock()
	h.names = append(h.names, name)
	for _, text := range strings.Fields(h.addrs[name]) {
		found = append(found, netip.MustParseAddr(text))
	}
	if found == nil {
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	return found, nil
}

type dialFunc = func(context.Context, string, netip.AddrPort) (net.Conn, error)

// recordDial returns a dial function that appends each address to addrs.
func recordDial(addrs *[]string, dial dialFunc) dialFunc {
	return func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
		*addrs = append(*addrs, to.String())
		return dial(ctx, network, to)
	}
}

// TestGatewayRedirectPolicy checks that a page from a gateway on this machine
// is treated as a public page, for every scheme that may use a gateway.
func TestGatewayRedirectPolicy(t *testing.T) {
	for _, test := range []struct {
		scheme string
		port   uint16
		url    string
	}{
		{"ftp", 21, "ftp://evil.example/redir"},
		{"ftps", 990, "ftps://evil.example/redir"},
		{"gopher", 70, "gopher://evil.example/1redir"},
		{"gophers", 70, "gophers://evil.example/1redir"},
		{"news", 119, "news://evil.example/local.test"},
		{"nntp", 119, "nntp://evil.example/local.test"},
		{"wais", 210, "wais://evil.example/db"},
		{"prospero", 1525, "prospero://evil.example/x"},
		{"http", 80, "http://evil.example/redir"},
		{"https", 443, "https://evil.example/redir"},
		{"whois++", 63, "whois++://evil.example/x"},
		{"afs", 0, "afs://evil.example/x"},
		{"urn", 0, "urn:isbn:0451450523"},
		{"gopher", 70, "gopher://127.0.0.2/1redir"}, // entered addresses: the gateway connects
		{"ftp", 21, "ftp://10.0.0.2/redir"},
	} {
		for _, target := range []string{"http://127.0.0.1/", "http://10.0.0.1/", "http://me.example/", "http://localhost/"} {
			for _, gateway := range []string{"http://127.0.0.1:8171/", "http://gw.example:8171/"} {
				const moved = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: "
				s := &script{replies: [][]string{{moved + target + "\r\n\r\n", moved + target + "\r\n\r\n"}, {ok}}}
				var places []string
				names := &hostResolver{addrs: map[string]string{"gw.example": "127.0.0.1", "me.example": "127.0.0.1", "localhost": "127.0.0.1"}}
				policy := fetch.Typed()
				policy.Redirects, policy.Downgrade = []string{"*"}, true
				all := []fetch.Scheme{http.Gateway(fetch.Scheme{Name: test.scheme, Port: test.port, Ports: scheme.Ports{Class: scheme.TextPorts}}, uri.MustParse(gateway))}
				for _, direct := range http.Schemes(http.Options{}) {
					if direct.Name != test.scheme {
						all = append(all, direct)
					}
				}
				client := fetch.New(fetch.Options{Policy: policy, Dial: recordDial(&places, s.dial), Resolver: names}, all...)
				stay := newRequest(test.url)
				stay.NoFollow = true
				resp, _, err := get(t, client, stay)
				if err != nil || resp.Peer.IsValid() || resp.Location.IsZero() {
					t.Fatalf("%s by %s: got %+v, %v, want a redirect without a peer", test.url, gateway, resp, err)
				}
				_, _, err = get(t, client, newRequest(test.url))
				client.Close()
				s.serving.Wait()
				if behind := test.scheme == "http" && strings.Contains(target, "me.example"); behind {
					continue // the gateway resolves the name
				}
				if !errors.Is(err, fetch.BadAddress) || strings.Join(places, " ") != "127.0.0.1:8171" {
					t.Errorf("%s by %s to %s: got %v, dialled %v, want a blocked address", test.url, gateway, target, err, places)
				}
			}
		}
	}
}

// TestGatewayPolicy checks that the policy decides on the addresses of the
// server in the URL, and that the gateway receives the address that was
// checked.
func TestGatewayPolicy(t *testing.T) {
	byAddress, byName := fetch.Allowlist("10.0.0.0/8"), fetch.Allowlist("out.example")
	for _, test := range []struct {
		name   string
		policy fetch.Policy
		scheme string
		port   uint16
		url    string
		line   string // "" if the policy blocks the URL
	}{
		{"name with a loopback address", fetch.Public(), "gopher", 70, "gopher://me.example/1x", ""},
		{"name with a private address", fetch.Public(), "ftp", 21, "ftp://in.example/x", ""},
		{"localhost", fetch.Public(), "ftp", 21, "ftp://localhost/x", ""},
		{"name with a metadata address", fetch.Public(), "ftp", 21, "ftp://meta.example/x", ""},
		{"loopback address", fetch.Public(), "gopher", 70, "gopher://127.0.0.1/1x", ""},
		{"name with a public address", fetch.Public(), "gopher", 70, "gopher://out.example/1x", "GET gopher://198.41.0.4/1x HTTP/1.1\r\nHost: out.example:70\r\n"},
		{"name with private and public addresses", fetch.Public(), "ftp", 21, "ftp://both.example:2121/x", "GET ftp://198.41.0.4:2121/x HTTP/1.1\r\nHost: both.example:2121\r\n"},
		{"name with an IPv6 address", fetch.Public(), "http", 80, "http://six.example/x", "GET http://[2001:4860::8]/x HTTP/1.1\r\nHost: six.example\r\n"},
		{"URL with a login", fetch.Public(), "ftp", 21, "ftp://al:p%40ss@out.example/x", "GET ftp://al:p%40ss@198.41.0.4/x HTTP/1.1\r\nHost: out.example:21\r\n"},
		{"scheme without a port, loopback name", fetch.Public(), "afs", 0, "afs://me.example/x", ""},
		{"scheme without a port, loopback address", fetch.Public(), "afs", 0, "afs://127.0.0.1/x", ""},
		{"scheme without a port, public name", fetch.Public(), "afs", 0, "afs://out.example/x", "GET afs://198.41.0.4/x HTTP/1.1\r\nHost: out.example\r\n"},
		{"URL without a server", fetch.Public(), "urn", 0, "urn:isbn:0451450523", "GET urn:isbn:0451450523 HTTP/1.1\r\n"},
		{"allowed by address", byAddress, "ftp", 21, "ftp://in.example/x", "GET ftp://10.0.0.1/x HTTP/1.1\r\nHost: in.example:21\r\n"},
		{"not allowed by address", byAddress, "ftp", 21, "ftp://out.example/x", ""},
		{"allowed by name", byName, "wais", 210, "wais://out.example/db", "GET wais://198.41.0.4/db HTTP/1.1\r\nHost: out.example:210\r\n"},
		{"not allowed by name", byName, "wais", 210, "wais://in.example/db", ""},
		{"policy without limits", fetch.Typed(), "ftp", 21, "ftp://in.example/x", "GET ftp://in.example/x HTTP/1.1\r\nHost: in.example:21\r\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &script{replies: [][]string{{ok}}}
			var places []string
			names := &hostResolver{addrs: map[string]string{"gw.example": "127.0.0.1", "me.example": "127.0.0.1", "localhost": "::1", "in.example": "10.0.0.1",
				"meta.example": "169.254.42.42", "out.example": "198.41.0.4", "both.example": "10.0.0.1 198.41.0.4", "six.example": "2001:4860::8"}}
			client := fetch.New(fetch.Options{Policy: test.policy, Dial: recordDial(&places, s.dial), Resolver: names},
				http.Gateway(fetch.Scheme{Name: test.scheme, Port: test.port, Ports: scheme.Ports{Class: scheme.TextPorts}}, uri.MustParse("http://gw.example:8171/")))
			_, _, err := get(t, client, newRequest(test.url))
			client.Close()
			s.serving.Wait()
			if test.line == "" {
				if !errors.Is(err, fetch.BadAddress) || len(places) > 0 {
					t.Errorf("got %v, dialled %v, want a blocked address", err, places)
				}
				return
			}
			if err != nil || !strings.HasPrefix(s.heads()[0], test.line) {
				t.Errorf("got %v, sent %q, want %q", err, s.heads(), test.line)
			}
			if strings.HasPrefix(test.line, "GET "+test.url+" ") && strings.Join(names.names, " ") != "gw.example" {
				t.Errorf("resolved %v, want only the gateway", names.names)
			}
		})
	}
}

// TestGatewayLinkedServer checks that a gateway gets no name from a page whose
// address was checked. It could resolve the name to another address.
func TestGatewayLinkedServer(t *testing.T) {
	const moved = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: ftp://evil.example:2121/y\r\n\r\n"
	for name, c := range map[string]struct {
		page string // that links to the server, or "" if the user entered the URL
		want string
	}{
		"link":    {"http://page.example/", "GET ftp://8.8.8.8/x GET ftp://8.8.8.8:2121/y"},
		"entered": {"", "GET ftp://evil.example/x GET ftp://evil.example:2121/y"},
	} {
		s := &script{replies: [][]string{{moved}, {ok}}}
		names := &hostResolver{addrs: map[string]string{"gw.example": "127.0.0.1", "evil.example": "8.8.8.8"}}
		policy := fetch.Typed()
		policy.Redirects = []string{"*"}
		client := fetch.New(fetch.Options{Policy: policy, Dial: s.dial, Resolver: names},
			append(http.Schemes(http.Options{}), http.Gateway(fetch.Scheme{Name: "ftp", Port: 21, Ports: scheme.Ports{Class: scheme.TextPorts}}, uri.MustParse("http://gw.example:8171/")))...)
		req := newRequest("ftp://evil.example/x")
		if c.page != "" {
			req.From = &fetch.Source{URL: uri.MustParse(c.page)}
		}
		_, _, err := get(t, client, req)
		client.Close()
		s.serving.Wait()
		var lines []string
		for _, head := range s.heads() {
			line, _, _ := strings.Cut(head, " HTTP/")
			lines = append(lines, line)
		}
		if got := strings.Join(lines, " "); got != c.want || err != nil {
			t.Errorf("%s: sent %q, want %q; error %v", name, got, c.want, err)
		}
	}
}
