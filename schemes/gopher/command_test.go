package gopher_test

import (
	"context"
	"io"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/schemes/gopher"
	"github.com/anyurl/fetch/uri"
)

// oneLine matches a valid request line, oneForm matches a request with form
// data, and phoneQuery matches the request to a phone book server.
var (
	oneLine    = regexp.MustCompile(`^[^\r\n\x00]*\r\n$`)
	oneForm    = regexp.MustCompile(`^[^\r\n\x00]*\t\+[^\t\r\n\x00]*\t1\r\n\+-1\r\n(?:[^\r\n\x00]*\r\n)*?\.\r\n$`)
	phoneQuery = regexp.MustCompile(`^query [^\r\n\x00]*\r\nquit\r\n$`)
)

// A responder accepts connections, sends the next text on each one and records
// the requests.
type responder struct {
	mu    sync.Mutex
	texts []string
	far   []net.Conn
}

func (a *responder) dial(context.Context, string, netip.AddrPort) (net.Conn, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	near, far := faultnet.Pipe(netip.MustParseAddrPort("192.0.2.2:1"), netip.MustParseAddrPort("198.41.0.4:70"))
	io.WriteString(far, a.texts[min(len(a.far), len(a.texts)-1)])
	far.CloseWrite()
	a.far = append(a.far, far)
	return near, nil
}

func (a *responder) requests() (all []string) {
	for _, far := range a.far {
		b, _ := io.ReadAll(far)
		all = append(all, string(b))
		far.Close()
	}
	return all
}

// FuzzNoExtraCommand checks that each connection carries exactly one request
// for any URL, search words and form answers. Only a request with form data may
// have more than one line.
func FuzzNoExtraCommand(f *testing.F) {
	f.Add("0/a", "words", "answer", false)
	f.Add("7/a%09b%0D%0AQUIT", "a\r\nb", "a\r\n.\r\nQUIT", false)
	f.Add("0/a%09%09?", "a\tb", ".", false)
	f.Add("0/a%09%09+%091%0D%0A+-1%0D%0Ax%0D%0A.%0D%0A", "", "..", false)
	f.Add("0/a%09%09+%091%0D%0A+-1%0D%0Ax%0D%0A.%0D%0A", "", "", true)
	f.Add("1%0D%0AHELO%20x%0D%0AMAIL%20FROM:%3Ca@b%3E", "", "", false)
	f.Add("*1%0d%0a$8%0d%0aFLUSHALL", "", "", false)
	f.Add("2?name=x%0Aquit", "x\x00", "a\nb", false)
	f.Add("h/URL:http://example.com/%0D%0A", "", "", true)
	f.Add("0/a", "plain", "de_de\r\nquit", true)
	f.Add("0/a", "", "c", false)
	form := "+-1\r\n+INFO: 0a\t/a\th\t70\t?\r\n+VIEWS:\r\n text/plain\tx: <1k>\r\n a\rb/c: <1k>\r\n+ASK:\r\n Ask: a\r\n AskL: b\r\n Choose: c\td\te\rf\r\n Note: g\r\n.\r\n"
	f.Fuzz(func(t *testing.T, path, words, answer string, led bool) {
		u, err := uri.Parse("gopher://198.41.0.4/" + path)
		if err != nil {
			return
		}
		a := &responder{texts: []string{form, "+-1\r\n.\r\n"}}
		options := gopher.Options{View: words, Lang: answer, FillForm: func(_ context.Context, f gopher.Form) ([]string, error) {
			return f.Fill(map[string]string{"1": answer, "2": answer}, nil)
		}}
		c := fetch.New(fetch.Options{Policy: fetch.Typed(), Dial: a.dial}, gopher.Schemes(options)...)
		defer c.Close()
		urls := []uri.URI{u}
		if q, err := c.Query(u, fetch.Search{Words: words}); err == nil {
			urls = append(urls, q)
		}
		for _, u := range urls {
			req := &fetch.Request{URL: u}
			if led {
				req.From = &fetch.Source{URL: uri.MustParse("gopher://198.41.0.4/"), Peer: netip.MustParseAddr("198.41.0.4")}
			}
			if resp, err := c.Do(t.Context(), req); err == nil {
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		}
		for _, sent := range a.requests() {
			isForm := oneForm.MatchString(sent) && !led
			if !oneLine.MatchString(sent) && !isForm && !(phoneQuery.MatchString(sent) && (path[:1] == "2" || strings.HasPrefix(path, "%32")) || sent == "") {
				t.Fatalf("%q, %q and %q sent %q", path, words, answer, sent)
			}
		}
	})
}
