package wais_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"context"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/test/waistest"
	"github.com/anyurl/fetch/internal/wire/z3950"
	"github.com/anyurl/fetch/schemes/wais"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// host is the address of the server in tests.
const host = "wais://192.0.2.1/"

func schemes() []fetch.Scheme { return wais.Schemes(wais.Options{}) }

func client(t testing.TB, change ...func(*fetch.Options)) *fetch.Client {
	return schemetest.NewClient(t, schemes(), change...)
}

// serve starts a server in memory and returns a client for it.
func serve(t testing.TB, scripts ...faultnet.Script) (*fetch.Client, *faultnet.Server) {
	n := faultnet.NewNetwork(t)
	s := n.Serve("192.0.2.1:210", scripts...)
	return client(t, func(o *fetch.Options) { o.Dial = n.Dial }), s
}

func get(ctx context.Context, t testing.TB, c *fetch.Client, url string) schemetest.Result {
	return schemetest.Exchange(ctx, c, schemetest.NewRequest(t, url))
}

// outcome describes a response. The description of a database is a text too.
func outcome(resp *fetch.Response, err error) string {
	if err == nil && strings.HasPrefix(resp.Media, "application/x-wais") {
		return schemetest.DescribeBody(resp, err, host)
	}
	return schemetest.Describe(resp, err, host)
}

// messages decodes the requests on the client's nth connection. It fails the
// test if other bytes were sent. It closes the client.
func messages(t testing.TB, c *fetch.Client, s *faultnet.Server, nth int) (all []z3950.PDU, raw [][]byte) {
	t.Helper()
	c.Close()
	return parseMessages(t, s.Conns()[nth].All())
}

func parseMessages(t testing.TB, sent []byte) (all []z3950.PDU, raw [][]byte) {
	t.Helper()
	for len(sent) > 0 {
		if len(sent) < z3950.HeaderSize {
			t.Fatalf("%q is sent behind the last message", sent)
		}
		h, err := z3950.ParseHeader(sent[:z3950.HeaderSize])
		if err != nil || len(sent) < z3950.HeaderSize+h.Length {
			t.Fatalf("%q is no whole message: %v", sent, err)
		}
		n := z3950.HeaderSize + h.Length
		p, err := z3950.Decode(sent[z3950.HeaderSize:n])
		if err != nil {
			t.Fatalf("%q is no request: %v", sent[:n], err)
		}
		all, raw, sent = append(all, p), append(raw, sent[:n]), sent[n:]
	}
	return all, raw
}

// exchanges maps the titles of a recording to its messages.
func exchanges(t testing.TB, file string) map[string]waistest.Exchange {
	all := map[string]waistest.Exchange{}
	for _, e := range waistest.Recorded(t, file) {
		all[e.Title] = e
	}
	return all
}
