package z3950_test

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
)

// onPeer returns Options that connect every address to a server.
func onPeer(s *peer.Server) func(*fetch.Options) {
	return func(o *fetch.Options) {
		o.Dial = func(ctx context.Context, network string, _ netip.AddrPort) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, s.Addr)
		}
	}
}

// TestSuite runs the tests of the contract with yaz-ztest.
func TestSuite(t *testing.T) {
	s := peer.Yaz(t)
	var o fetch.Options
	onPeer(s)(&o)
	c := schemetest.NewClient(t, schemes(), onPeer(s))
	_, body, err := schemetest.Read(t, c, session+"Default?9x;n=3")
	if err != nil {
		t.Fatal(err)
	}
	rejected := []string{session + "Default", record + "Default", record + "Default?a%0Ab", session + "Default?1;n=0", session + "a++b?x",
		session + "Default?1;rs=morse", session + "Default?1;x=y", record + "Default?1;n=1", session + "no%00tes?x", session + "d?%20"}
	for _, port := range []string{"25", "79", "6379", "0", "65746"} {
		rejected = append(rejected, "z39.50s://192.0.2.1:"+port+"/Default?1")
	}
	fetchtest.Run(t, fetchtest.Suite{
		Schemes: schemes, Options: o,
		Document: session + "Default?9x;n=3", Body: []byte(body),
		Missing: record + "nosuch?1x",
		Menu:    session + "Default?3x", Names: []string{"How to program a computer"},
		Rejected: rejected,
	})
}

// TestYaz retrieves records of yaz-ztest in each record syntax.
func TestYaz(t *testing.T) {
	s := peer.Yaz(t)
	c := schemetest.NewClient(t, schemes(), onPeer(s))
	for _, test := range []struct{ url, media, want string }{
		{record + "Default?1x", "text/plain; charset=utf-8", "245 10 $a How to program a computer\n"},
		{record + "Default?1x;rs=usmarc", "application/marc", "\x1faHow to program a computer\x1e"},
		{record + "Default?1x;rs=xml", "application/xml", `<subfield code="a">How to program a computer</subfield>`},
		{record + "Default?1x;rs=sutrs", "text/plain; charset=utf-8", "This is dummy SUTRS record number 1\n"},
		{record + "Default?1x;rs=grs-1+sutrs", "text/plain; charset=utf-8", "This is dummy SUTRS record"},
		{record + "Default?1x;esn=F", "text/plain; charset=utf-8", "245 10 $a How"},
		{record + "Default?1x;esn=F;rs=xml", "", "server-perm"},
		{record + "db%3Ax+Default?1x;rs=sutrs", "", "server-perm"},
		{record + "?1x;rs=sutrs", "text/plain; charset=utf-8", "This is dummy SUTRS record"},
		{record + "Default?2x", "", "server-perm"},
		{record + "Default?0x", "", "not-found"},
		{session + "Default?2x;n=3", "", "not-found"},
		{session + "Default?title:2x+author:%22Jack%20C%22;n=2", "text/plain; charset=utf-8", "LDR "},
		{record + "Default?1x;rs=grs-1", "", "server-perm"},
	} {
		resp, body, err := schemetest.Read(t, c, test.url)
		switch {
		case err != nil:
			if got := fetch.FaultOf(err).String(); got != test.want {
				t.Errorf("%s: got %v, want %s", test.url, err, test.want)
			}
		case resp.Media != test.media || !strings.Contains(body, test.want) || resp.Size != int64(len(body)):
			t.Errorf("%s: got %s %q of %d bytes", test.url, resp.Media, body, resp.Size)
		}
	}
}

// TestYazList lists more records than one message contains.
func TestYazList(t *testing.T) {
	s := peer.Yaz(t)
	c := schemetest.NewClient(t, schemes(), onPeer(s))
	all, err := schemetest.List(t, c, session+"Default?73x;rs=sutrs")
	if err != nil || len(all) != 73 {
		t.Fatalf("got %d entries, %v", len(all), err)
	}
	e := all[72]
	if got := e.URL.String(); got != session+"Default?73x;n=73;rs=sutrs" || !strings.HasPrefix(e.Name, "This is dummy") || e.Size <= 0 {
		t.Errorf("last entry: %+v", e)
	}
	_, body, err := schemetest.Read(t, c, e.URL.String())
	if err != nil || int64(len(body)) != e.Size {
		t.Errorf("last record: %q, %v", body, err)
	}
	req := schemetest.NewRequest(t, session+"Default")
	req.Op = fetch.Stat
	resp, err := c.Do(t.Context(), req)
	if err != nil || resp.Header.Get("server") != "GFS/YAZ" || resp.Header.Get("version") != "3" || resp.Kind != fetch.Index {
		t.Errorf("stat: %+v, %v", resp, err)
	}
}
