package prospero_test

import (
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/wire/prospero/ardp"
)

// bodyOf is a scheme whose URLs return their own text.
func bodyOf(name string, port uint16) fetch.Scheme {
	return fetch.Scheme{Name: name, Port: port, Open: func(fetch.Env) fetch.Driver {
		return fetch.DriverFunc(func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
			return &fetch.Response{Kind: fetch.Document, Size: -1, Body: io.NopCloser(strings.NewReader("got " + req.URL.String()))}, nil
		})
	}}
}

// TestReferrals checks the targets that a server may and may not name.
func TestReferrals(t *testing.T) {
	access := func(text string) faultnet.Packets {
		return says(map[string]string{"LIST": "FAILURE NOT-A-DIRECTORY\n", "#ALL": "ATTRIBUTE OBJECT INTRINSIC ACCESS-METHOD SEQUENCE " + text + "\n"})
	}
	forward := func(text string) faultnet.Packets { return says(map[string]string{"LIST": "FORWARDED " + text + "\n"}) }
	for _, c := range []struct {
		name string
		p    faultnet.Packets
		want string
	}{
		{"ftp", access("AFTP INTERNET-D f.example ASCII a BINARY"), "got ftp://f.example/a;type=i"},
		{"gopher", access("GOPHER INTERNET-D g.example(70) ASCII 0a"), "got gopher://g.example/0a"},
		{"wais", access("WAIS INTERNET-D w.example ASCII db"), "got wais://w.example/db"},
		{"http", access("HTTP INTERNET-D h.example ASCII a"), "got http://h.example/a"},
		{"ftp at another port", access("AFTP INTERNET-D f.example(2121) ASCII a BINARY"), "policy-redirect"},
		{"ftp at the port of another service", access("AFTP INTERNET-D f.example(25) ASCII a BINARY"), "policy-redirect"},
		{"gopher at the port of mail", access("GOPHER INTERNET-D g.example(25) ASCII 0a"), "policy-redirect"},
		{"http at another port", access("HTTP INTERNET-D h.example(8080) ASCII a"), "policy-redirect"},
		{"telnet", access("TELNET INTERNET-D t.example ASCII a"), "policy-redirect"},
		{"news", access("NEWS INTERNET-D n.example ASCII comp.x"), "policy-redirect"},
		{"a metadata service", access("HTTP INTERNET-D 169.254.169.254 ASCII latest"), "policy-address"},
		{"a private network", access("AFTP INTERNET-D 10.0.0.1 ASCII a BINARY"), "policy-address"},
		{"the server itself, by what it calls itself", access("AFTP INTERNET-D localhost ASCII a BINARY"), "got ftp://198.41.0.4/a;type=i"},
		{"this machine, otherwise spelled", access("AFTP INTERNET-D 127.1 ASCII a BINARY"), "policy-address"},

		{"forwarded to itself", forward("INTERNET-D 198.41.0.4 ASCII x 0"), "loop"},
		{"forwarded to a private network", forward("INTERNET-D 10.0.0.1 ASCII x 0"), "policy-address"},
		{"forwarded to another port", forward("INTERNET-D 198.41.0.4(53) ASCII x 0"), "policy-port"},
		{"forwarded to a port of nobody's", forward("INTERNET-D 198.41.0.4(4000) ASCII x 0"), "policy-port"},
	} {
		n := faultnet.NewNetwork(t)
		n.ServePackets("198.41.0.4:1525", c.p)
		all := append(schemes(), bodyOf("ftp", 21), bodyOf("gopher", 70), bodyOf("wais", 210), bodyOf("http", 80), bodyOf("telnet", 23), bodyOf("nntp", 119))
		client := fetch.New(fetch.Options{Policy: fetch.Typed(), Dial: n.Dial}, all...)
		got := schemetest.Exchange(t.Context(), client, &fetch.Request{URL: request(t, "prospero://198.41.0.4/x").URL})
		if got.Body != c.want && got.Fault() != c.want {
			t.Errorf("%s: got %q, %v, want %s", c.name, got.Body, got.Err, c.want)
		}
		client.Close()
	}
}

// TestForwarded: an object that has moved is found by name and in a directory.
func TestForwarded(t *testing.T) {
	for path, want := range map[string]string{
		"moved":     "redirect to prospero://198.41.0.5//new/place;OBJECT-VERSION=3",
		"moved/x y": "redirect to prospero://198.41.0.5//new/place/x%20y;OBJECT-VERSION=3",
	} {
		client, _ := serve(t, says(map[string]string{
			"DIRECTORY ASCII moved\n": "FORWARDED INTERNET-D 198.41.0.5 ASCII /new/place 3\n",
			"DIRECTORY ASCII 'moved":  "FAILURE NOT-A-DIRECTORY\n",
			"GET-OBJECT-INFO":         "FAILURE NOT-FOUND\n",
		}))
		if got := outcome(client.Do(t.Context(), request(t, host+strings.ReplaceAll(path, " ", "%20")))); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// TestElsewhere: a link to an object of another server results in a redirect.
func TestElsewhere(t *testing.T) {
	for name, c := range map[string]struct{ path, links, want string }{
		"file":                         {"d/x", "LINK L FILE x INTERNET-D O.EXAMPLE(191) ASCII /real/x 3\n", "redirect to prospero://o.example:191//real/x;OBJECT-VERSION=3"},
		"directory":                    {"d/x", "LINK L DIRECTORY x INTERNET-D O.EXAMPLE ASCII real 0\n", "redirect to prospero://o.example/real"},
		"file of an alias":             {"AFTP/x", "LINK L FILE x INTERNET-D O.EXAMPLE ASCII real 0\n", "redirect to prospero://o.example/real"},
		"another name here":            {"d/x", "LINK L DIRECTORY x INTERNET-D LOCALHOST ASCII real 0\n", "redirect to prospero://192.0.2.1/real"},
		"itself":                       {"d/x", "LINK L FILE x INTERNET-D LOCALHOST(1525) ASCII d/x 0\n", "not-found: get d/x: server replied: FAILURE NOT-FOUND"},
		"a directory that is itself":   {"d/x", "LINK L DIRECTORY x INTERNET-D 192.0.2.1 ASCII d/x 0\n", "not-found: get d/x: server reports a directory, but has no listing for it"},
		"nowhere that we may go":       {"d/x", "LINK L NULL x INTERNET-D O.EXAMPLE ASCII real 0\n", "not-found: get d/x: server replied: FAILURE NOT-FOUND"},
		"another protocol comes first": {"d/x", "LINK L FILE x INTERNET-D O.EXAMPLE ASCII /real/x 0\nATTRIBUTE LINK FIELD ACCESS-METHOD SEQUENCE AFTP '' '' '' '' BINARY\n", "redirect to ftp://o.example/real/x;type=i"},
	} {
		client, _ := serve(t, says(map[string]string{"COMPONENTS\n": "FAILURE NOT-A-DIRECTORY\n", "GET-OBJECT-INFO": "FAILURE NOT-FOUND\n", "COMPONENTS x": c.links}))
		if got := outcome(client.Do(t.Context(), request(t, host+c.path))); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// TestHandedOn: redirects of datagrams are followed a few times, and only to
// public addresses and Prospero's ports.
func TestHandedOn(t *testing.T) {
	to := func(address string) faultnet.Packets {
		a := netip.MustParseAddrPort(address)
		ip := a.Addr().As4()
		return faultnet.Packets{Answer: func(b []byte) [][]byte {
			p, _ := ardp.Parse(b)
			args := append(ip[:], byte(a.Port()>>8), byte(a.Port()))
			return [][]byte{ardp.Packet{ID: p.ID, Option: ardp.Redirect, Args: args}.Append(nil)}
		}}
	}
	for address, want := range map[string]string{
		"198.41.0.5:1525":  "ok",
		"198.41.0.5:191":   "ok",
		"198.41.0.5:53":    "policy-port",
		"198.41.0.5:11211": "policy-port",
		"198.41.0.5:2000":  "policy-port",
		"127.0.0.1:1525":   "policy-address",
		"10.0.0.1:1525":    "policy-address",
		"198.41.0.4:1525":  "loop",
	} {
		n := faultnet.NewNetwork(t)
		n.ServePackets("198.41.0.4:1525", to(address))
		for _, port := range []string{"1525", "191", "53", "11211", "2000"} {
			n.ServePackets("198.41.0.5:"+port, says(map[string]string{"LIST": "NONE-FOUND\n"}))
		}
		client := client(t, func(o *fetch.Options) { o.Dial = n.Dial })
		if got := schemetest.Exchange(t.Context(), client, request(t, "prospero://198.41.0.4/x")); got.Fault() != want {
			t.Errorf("%s: got %v, want %s", address, got.Err, want)
		}
		dials := n.Dialed()
		if want == "ok" && len(dials) != 2 || want == "loop" && len(dials) != 6 || strings.HasPrefix(want, "policy") && len(dials) != 1 {
			t.Errorf("%s: dialled %v", address, dials)
		}
	}
}

// TestPorts: typed URLs may use only Prospero's ports.
func TestPorts(t *testing.T) {
	c := client(t, func(o *fetch.Options) {
		o.Dial = func(context.Context, string, netip.AddrPort) (net.Conn, error) {
			t.Error("dialled")
			return nil, io.ErrClosedPipe
		}
	})
	for _, port := range []string{"53", "123", "161", "1900", "5353", "11211", "15250", "80"} {
		if got := schemetest.Exchange(t.Context(), c, request(t, "prospero://198.41.0.4:"+port+"/x")); got.Fault() != "policy-port" {
			t.Errorf("port %s: got %v", port, got.Err)
		}
	}
}
