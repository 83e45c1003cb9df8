package prospero_test

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/faultnet"
	"github.com/anyurl/fetch/schemes/prospero"
	"github.com/anyurl/fetch/schemes/prospero/ardp"
	"github.com/anyurl/fetch/schemes/prospero/prospertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// host is where tests have their server.
const host = "prospero://192.0.2.1/"

func schemes() []fetch.Scheme { return prospero.Schemes(prospero.Options{}) }

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
func serve(t testing.TB, p faultnet.Packets) (*fetch.Client, *faultnet.PacketServer) {
	n := faultnet.NewNetwork(t)
	s := n.ServePackets("192.0.2.1:1525", p)
	return client(t, func(o *fetch.Options) { o.Dial = n.Dial }), s
}

// says is a server that answers each request by what it asks for: the text of
// the key that is part of it.
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
	u, err := fetch.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	return &fetch.Request{URL: u, NoFollow: true}
}

// texts are the requests that a server has got, joined of their packets and
// without headers.
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

// outcome is a response in words, or an error by its fault.
func outcome(resp *fetch.Response, err error) string {
	if err != nil {
		return fmt.Sprintf("%v: %v", fetch.FaultOf(err), strings.ReplaceAll(err.Error(), host, ""))
	}
	defer resp.Body.Close()
	if !resp.Location.IsZero() {
		return "look at " + resp.Location.String()
	}
	head := strings.TrimSpace(fmt.Sprintf("%v %s", resp.Kind, resp.Media))
	if resp.Size >= 0 {
		head += fmt.Sprintf(" %d bytes", resp.Size)
	}
	if resp.Kind != fetch.Menu {
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return fmt.Sprintf("%s: %v after %q: %v", head, fetch.FaultOf(err), body, err)
		}
		return fmt.Sprintf("%s: %q", head, body)
	}
	var all []string
	for e, err := range resp.Entries() {
		if err != nil {
			all = append(all, fmt.Sprintf("%v: %v", fetch.FaultOf(err), err))
			break
		}
		all = append(all, show(e))
	}
	return strings.Join(all, "\n")
}

func show(e fetch.Entry) string {
	s := strings.TrimSpace(fmt.Sprintf("%v %q %s", e.Kind, e.Name, strings.TrimPrefix(e.URL.String(), host)))
	if e.Size >= 0 {
		s += fmt.Sprintf(" %d", e.Size)
	}
	if !e.Time.IsZero() {
		s += " " + e.Time.Format("20060102150405")
	}
	var extra []string
	for k, v := range e.Extra {
		extra = append(extra, fmt.Sprintf("%s=%q", k, v))
	}
	sort.Strings(extra)
	return strings.TrimSpace(s + " " + strings.Join(extra, " "))
}
