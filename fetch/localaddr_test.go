package fetch

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/anyurl/fetch/internal/base/localaddr"
	"github.com/anyurl/fetch/uri"
)

// TestOwnAddresses checks that the addresses of the interfaces of this machine
// count as this machine. The machine of the test has the addresses 9.9.9.9 and
// 192.168.0.7.
func TestOwnAddresses(t *testing.T) {
	answers := names{"own.example": {"9.9.9.9", "8.8.8.8"}}
	for name, c := range map[string]struct {
		policy   Policy
		from, to string // from is the address of the server of the page, or "" if the user entered the URL
		want     string // dialed address, or ""
	}{
		"public policy":                   {Public(), "", "http://9.9.9.9:8080/", ""},
		"public policy, IPv4 in IPv6":     {Public(), "", "http://[::ffff:9.9.9.9]/", ""},
		"public policy, NAT64":            {Public(), "", "http://[64:ff9b::909:909]/", ""},
		"public policy, 6to4":             {Public(), "", "http://[2002:909:909::1]/", ""},
		"link, NAT64":                     {Typed(), "1.1.1.1", "http://[64:ff9b::909:909]/", ""},
		"public policy, name":             {Public(), "", "http://own.example/", "8.8.8.8:80"},
		"public policy, other address":    {Public(), "", "http://9.9.9.8/", "9.9.9.8:80"},
		"typed":                           {Typed(), "", "http://9.9.9.9/", "9.9.9.9:80"},
		"link from a public page":         {Typed(), "1.1.1.1", "http://9.9.9.9/", ""},
		"link from a private page":        {Typed(), "192.168.0.5", "http://192.168.0.7/", ""},
		"link from this machine":          {Typed(), "9.9.9.9", "http://192.168.0.7/", "192.168.0.7:80"},
		"link from a loopback page":       {Typed(), "127.0.0.1", "http://9.9.9.9/", "9.9.9.9:80"},
		"public link from this machine":   {Typed(), "9.9.9.9", "http://1.1.1.1/", "1.1.1.1:80"},
		"public policy, own private page": {Public(), "9.9.9.9", "http://9.9.9.9/", ""},
	} {
		r := &recorder{}
		cl := New(Options{Policy: c.policy, Resolver: answers, Dial: r.dial}, page(func(_ *Request, resp *Response) { text(resp, "x") }))
		cl.policy.interfaces = &localaddr.Set{Read: func() ([]net.Addr, error) {
			return []net.Addr{&net.IPNet{IP: net.IPv4(9, 9, 9, 9), Mask: net.CIDRMask(24, 32)}, &net.IPNet{IP: net.IPv4(192, 168, 0, 7), Mask: net.CIDRMask(24, 32)}}, nil
		}}
		req := &Request{URL: uri.MustParse(c.to)}
		if c.from != "" {
			req.From = &Source{URL: uri.MustParse("http://page.example/")}
			req.From.Peer = netip.MustParseAddr(c.from)
		}
		resp, err := cl.Do(t.Context(), req)
		if err == nil {
			resp.Body.Close()
		}
		if got := r.addresses(); got != c.want || c.want == "" && !errors.Is(err, BadAddress) {
			t.Errorf("%s: dialed %q, want %q; error %v", name, got, c.want, err)
		}
		cl.Close()
	}
}
