package wais_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/test/waistest"
	"github.com/anyurl/fetch/internal/wire/z3950"
	"github.com/anyurl/fetch/uri"
)

// FuzzNoExtraCommand: for any URL and words, the driver sends only complete
// requests for the database of the URL, and each one after a response.
func FuzzNoExtraCommand(f *testing.F) {
	f.Add("db?words", "more words")
	f.Add("db/TEXT/5/3=a;", "")
	f.Add("db/TEXT/%16%16%16", "a\r\nb")
	f.Add("a%1Fb?x", "\x1d")
	f.Add("db@other:25/?x&like=TEXT/5/3=a;&lines=1,2&max=3", "x&max=1")
	f.Add("%0D%0AHELO%20x/T/0000000012z2wais%20%20%20%20%20%20%20%20%200", "(a or b*) not \"c d\"")
	f.Fuzz(func(t *testing.T, path, words string) {
		u, err := uri.Parse("wais://198.41.0.4/" + path)
		if err != nil {
			return
		}
		checkSent(t, u)
		if u, err = schemes()[0].Search(u, fetch.Search{Words: words}); err == nil {
			checkSent(t, u)
		}
	})
}

// checkSent fetches u from a server with a database and checks the sent bytes.
func checkSent(t *testing.T, u uri.URI) {
	server := &waistest.Server{Databases: map[string]*waistest.Database{"db": {Documents: []*waistest.Document{waistest.NewText("/a", "a", "text")}}}}
	var sent bytes.Buffer
	c, done := pipeTo(t, func(far net.Conn) {
		server.Serve(struct {
			io.Reader
			io.Writer
		}{io.TeeReader(far, &sent), far})
	})
	schemetest.Drain(c.Do(t.Context(), &fetch.Request{URL: u}))
	c.Close()
	done()
	want, _, _ := strings.Cut(strings.TrimPrefix(u.Path(), "/"), "/")
	want, _ = uri.Unescape(want)
	if want == "" {
		want = "INFO"
	}
	all, raw := parseMessages(t, sent.Bytes())
	for i, p := range all {
		if again := z3950.AppendMessage(nil, z3950.Header{}, p); !bytes.Equal(again, raw[i]) {
			t.Fatalf("%s sent %q, which reads as %q", u, raw[i], again)
		}
		switch p := p.(type) {
		case *z3950.Init:
			if i > 0 {
				t.Fatalf("%s sent a second Init", u)
			}
		case *z3950.Search:
			if string(p.Databases) != want {
				t.Fatalf("%s asked database %q", u, p.Databases)
			}
		default:
			t.Fatalf("%s sent %+v", u, p)
		}
	}
}

// pipeTo returns a client whose only connection is served by serve, and a
// function that waits until serve returns.
func pipeTo(t *testing.T, serve func(far net.Conn)) (c *fetch.Client, done func()) {
	var served sync.WaitGroup
	var near []net.Conn
	c = client(t, func(o *fetch.Options) {
		o.Dial = func(context.Context, string, netip.AddrPort) (net.Conn, error) {
			if len(near) > 0 {
				return nil, syscall.ECONNREFUSED
			}
			conn, far := faultnet.Pipe(netip.MustParseAddrPort("192.0.2.2:1"), netip.MustParseAddrPort("198.41.0.4:210"))
			near = append(near, conn)
			served.Go(func() {
				serve(far)
				far.Close()
			})
			return conn, nil
		}
	})
	return c, func() {
		for _, conn := range near {
			conn.Close()
		}
		served.Wait()
	}
}

// FuzzWAISURL: a document's URL that is parsed and written again names the same
// document, also after normalization.
func FuzzWAISURL(f *testing.F) {
	for _, r := range replays {
		f.Add(r.path)
	}
	f.Add("db/TEXT/3=a%2F..%2Fb%2F.;")
	f.Add("db/TEXT/1=a")
	f.Add("db/T%2FX/%2e%2e/")
	f.Fuzz(func(t *testing.T, path string) {
		u, err := uri.Parse(host + path)
		if err != nil {
			return
		}
		like, err := schemes()[0].Search(uri.MustParse(host+"db"), fetch.Search{Like: []uri.URI{u}})
		if err != nil || strings.Contains(like.String(), "&lines=") {
			return
		}
		_, document, _ := strings.Cut(like.String(), "&like=")
		for _, level := range []uri.Level{uri.Syntax, uri.ByScheme} {
			again, err := uri.Parse(host + "db/" + document)
			if err != nil {
				t.Fatalf("%s: %v", document, err)
			}
			again = again.Normalize(level)
			back, err := schemes()[0].Search(uri.MustParse(host+"db"), fetch.Search{Like: []uri.URI{again}})
			if err != nil || back != like {
				t.Fatalf("%s became %s, %v", like, back, err)
			}
		}
	})
}

// FuzzWAISResponse: any response results in an error or in a body that ends
// where the protocol defines it.
func FuzzWAISResponse(f *testing.F) {
	for _, file := range waistest.Recordings(f) {
		for _, e := range waistest.Recorded(f, file) {
			if len(e.Answer) < 1000 {
				f.Add(e.Answer, byte(0))
				f.Add(e.Answer, byte(1))
			}
		}
	}
	f.Add([]byte(message(chunk(id, "1234"))+message(chunk(id, "5678"))), byte(2))
	paths := []string{"db?x", known, endless, "notes/" + notesSrc}
	f.Fuzz(func(t *testing.T, answers []byte, what byte) {
		c, done := pipeTo(t, func(far net.Conn) { answerAll(far, answers) })
		req := schemetest.NewRequest(t, "wais://198.41.0.4/"+paths[int(what)%len(paths)])
		if what >= 128 {
			req = schemetest.NewRequest(t, "wais://198.41.0.4/db")
			req.Op = fetch.Stat
		}
		if err := schemetest.Drain(c.Do(t.Context(), req)); err != nil && fetch.FaultOf(err) == fetch.Internal {
			t.Fatalf("nobody classed %v", err)
		}
		c.Close()
		done()
	})
}

// answerAll replies to Init, and then to each request with the next message of
// answers. The connection ends at the first incomplete message.
func answerAll(far net.Conn, answers []byte) {
	next, whole := []byte(initOK(1000)), true
	for p := make([]byte, 4096); whole; {
		if _, err := far.Read(p); err != nil {
			return
		}
		if _, err := far.Write(next); err != nil {
			return
		}
		n := len(answers)
		whole = false
		if n >= z3950.HeaderSize {
			if h, err := z3950.ParseHeader(answers[:z3950.HeaderSize]); err == nil && z3950.HeaderSize+h.Length <= n {
				n, whole = z3950.HeaderSize+h.Length, true
			}
		}
		next, answers = answers[:n], answers[n:]
	}
	far.Read(make([]byte, 4096))
	far.Write(next)
}

// FuzzWAISSource: a description results in a URL or in an error.
func FuzzWAISSource(f *testing.F) {
	f.Add("(:source :version 3 :ip-name \"h\" :tcp-port 8210 :database-name \"a\" :x (:any :size 2 :bytes #( 1 2 )))")
	f.Add("(:source :description \"a \\\" b\"")
	f.Fuzz(func(t *testing.T, text string) {
		for e, err := range schemes()[0].Menu(uri.MustParse(host), sourceMedia, strings.NewReader(text)) {
			if err == nil && (e.URL.Scheme() != "wais" || e.Kind != fetch.Index) || err != nil && fetch.FaultOf(err) != fetch.Protocol {
				t.Fatalf("%q: %+v, %v", text, e, err)
			}
		}
	})
}
