package prospero_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/prospertest"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/wire/prospero/ardp"
	"github.com/anyurl/fetch/schemes/prospero"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// host is the address of the server in tests.
const host = "prospero://192.0.2.1/"

func schemes() []fetch.Scheme { return prospero.Schemes(prospero.Options{}) }

func client(t testing.TB, change ...func(*fetch.Options)) *fetch.Client {
	return schemetest.NewClient(t, schemes(), change...)
}

// serve starts a server in memory and returns a client for it.
func serve(t testing.TB, p faultnet.Packets) (*fetch.Client, *faultnet.PacketServer) {
	n := faultnet.NewNetwork(t)
	s := n.ServePackets("192.0.2.1:1525", p)
	return client(t, func(o *fetch.Options) { o.Dial = n.Dial }), s
}

// says returns a server that replies to a request with the text whose key
// occurs in the request.
func says(replies map[string]string) faultnet.Packets {
	s := prospertest.NewServer("H")
	s.Tamper = func(request, _ string) string {
		for key, text := range replies {
			if strings.Contains(request, key) {
				return text
			}
		}
		return "ERROR nobody told the test's server what to say\n"
	}
	return faultnet.Packets{Answer: s.Answer}
}

func request(t testing.TB, url string) *fetch.Request {
	t.Helper()
	req := schemetest.NewRequest(t, url)
	req.NoFollow = true
	return req
}

func outcome(resp *fetch.Response, err error) string { return schemetest.Describe(resp, err, host) }

// texts returns the requests that a server received, without packet headers.
func texts(t testing.TB, s *faultnet.PacketServer) (all []string) {
	t.Helper()
	for _, b := range s.Requests() {
		p, err := ardp.Parse(b)
		if err != nil {
			t.Fatalf("sent %q, which is no packet: %v", b, err)
		}
		switch {
		case p.Number == 1:
			all = append(all, string(p.Data))
		case p.Number > 1:
			all[len(all)-1] += string(p.Data)
		}
	}
	return all
}
