package wais_test

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/faultnet"
	"github.com/anyurl/fetch/schemes/wais"
	"github.com/anyurl/fetch/schemes/wais/waistest"
	"github.com/anyurl/fetch/schemes/wais/z3950"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// host is where tests have their server.
const host = "wais://192.0.2.1/"

func schemes() []fetch.Scheme { return wais.Schemes(wais.Options{}) }

func client(t testing.TB, change ...func(*fetch.Options)) *fetch.Client {
	opts := fetch.Options{Policy: fetch.Typed()}
	for _, f := range change {
		f(&opts)
	}
	c := fetch.New(opts, schemes()...)
	t.Cleanup(func() { c.Close() })
	return c
}

// serve starts a server in memory and returns a client of it.
func serve(t testing.TB, scripts ...faultnet.Script) (*fetch.Client, *faultnet.Server) {
	n := faultnet.NewNetwork(t)
	s := n.Serve("192.0.2.1:210", scripts...)
	return client(t, func(o *fetch.Options) { o.Dial = n.Dial }), s
}

func request(t testing.TB, url string) *fetch.Request {
	t.Helper()
	u, err := fetch.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	return &fetch.Request{URL: u}
}

// outcome is a response in words, or an error by its fault.
func outcome(resp *fetch.Response, err error) string {
	if err != nil {
		return fmt.Sprintf("%v: %v", fetch.FaultOf(err), strings.ReplaceAll(err.Error(), host, ""))
	}
	defer resp.Body.Close()
	head := fmt.Sprintf("%v %s", resp.Kind, resp.Media)
	if resp.Size >= 0 {
		head += fmt.Sprintf(" %d bytes", resp.Size)
	}
	if resp.Kind != fetch.Menu || strings.HasPrefix(resp.Media, "application/x-wais") {
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return fmt.Sprintf("%s: %v after %d bytes: %v", head, fetch.FaultOf(err), len(body), err)
		}
		return fmt.Sprintf("%s: %q", strings.TrimSpace(head), body)
	}
	var all []string
	for e, err := range resp.Entries() {
		if err != nil {
			return head + ": " + err.Error()
		}
		all = append(all, show(e))
	}
	return strings.Join(all, "\n")
}

func show(e fetch.Entry) string {
	s := fmt.Sprintf("%v %q %s %s", e.Kind, e.Name, strings.TrimPrefix(e.URL.String(), host), e.Media)
	if e.Size >= 0 {
		s += fmt.Sprintf(" %d", e.Size)
	}
	var extra []string
	for k, v := range e.Extra {
		extra = append(extra, fmt.Sprintf("%s=%q", k, v))
	}
	sort.Strings(extra)
	return s + " " + strings.Join(extra, " ")
}

// messages takes what a client sent over its nth connection apart, and checks
// that it is nothing but whole requests. The client is closed.
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

// exchanges is a recording by title.
func exchanges(t testing.TB, file string) map[string]waistest.Exchange {
	all := map[string]waistest.Exchange{}
	for _, e := range waistest.Recorded(t, file) {
		all[e.Title] = e
	}
	return all
}
