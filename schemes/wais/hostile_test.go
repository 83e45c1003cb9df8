package wais_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/test/waistest"
	"github.com/anyurl/fetch/internal/wire/z3950"
)

// TestSlow: a server that sends slowly cannot delay a request beyond its limit,
// in any part of a response.
func TestSlow(t *testing.T) {
	results := func(n int) string {
		var all []z3950.Record
		for i := range n {
			all = append(all, document(fmt.Sprintf("hit %03d", i)))
		}
		return message(all...)
	}
	few, one := results(3), len(results(2))-len(results(1))
	asides := []z3950.Record{document("hit 000")}
	for range 1000 {
		asides = append(asides, diagnostic("SD", "x"))
	}
	source := z3950.Record{Kind: z3950.Document, ID: []byte(id), Types: [][]byte{[]byte("WSRC")}}
	for _, c := range []struct {
		name, path string
		op         fetch.Op
		script     faultnet.Script
		body       string
	}{
		{"a hit", "db?x", fetch.Get, ready(faultnet.Send(few[:len(few)-10]), faultnet.SendSlow(few[len(few)-10:], 1, 30*time.Second)), `"hit 001"`},
		{"hit by hit", "db?x", fetch.Get, ready(faultnet.SendSlow(results(500), one, 20*time.Second)), `"hit 000"`},
		{"diagnostics behind a hit", "db?x", fetch.Get, ready(faultnet.SendSlow(message(asides...), len(results(1)), 50*time.Second)), `"hit 000"`},
		{"a second chunk", known, fetch.Get, ready(faultnet.Send(message(chunk(id, "1234"))), readRequest, faultnet.SendSlow(message(chunk(id, "5678")), 1, 30*time.Second)), "1234"},
		{"a description", "db", fetch.Stat, ready(faultnet.Send(message(source)), readRequest, faultnet.Send(message(chunk(id, "(:source"))), readRequest, faultnet.SendSlow(message(chunk(id, ")")), 1, 30*time.Second)), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := serve(t, c.script)
				started := time.Now()
				req := schemetest.NewRequest(t, host+c.path)
				req.Op = c.op
				resp, err := client.Do(t.Context(), req)
				var body []byte
				if err == nil {
					body, err = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				if took := time.Since(started); fetch.FaultOf(err) != fetch.Timeout || took > 4*time.Minute || !strings.Contains(string(body), c.body) {
					t.Errorf("got %q, %v after %v", body, err, took)
				}
				client.Close()
				s.Close()
			})
		})
	}
}

// TestSlowReader pauses while it reads a listing. These pauses do not count.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := []z3950.Record{}
		for i := range 2000 {
			all = append(all, document(fmt.Sprintf("hit %03d %s", i, strings.Repeat("x", 100))))
		}
		client, s := serve(t, ready(faultnet.Send(message(all...)), faultnet.Stall()))
		resp, err := client.Get(t.Context(), host+"db?x")
		if err != nil {
			t.Fatal(err)
		}
		schemetest.ListSlowly(t, resp, len(all))
		client.Close()
		s.Close()
	})
}

// TestLargeResult: a result with a hundred types and the largest id does not
// make the listing hundreds of times larger.
func TestLargeResult(t *testing.T) {
	var types [][]byte
	for i := range 99 {
		types = append(types, fmt.Appendf(nil, "T%02d", i))
	}
	for size, entries := range map[int]int{100: 16, 10000: 16, 60000: 1} {
		large := z3950.Record{Kind: z3950.Document, ID: []byte("\x03" + strings.Repeat("\xff", size-1)), Types: types, Headline: []byte("large")}
		c, _ := serve(t, ready(faultnet.Send(message(large, document("small")))))
		got := get(t.Context(), t, c, host+"db?x")
		if n := strings.Count(got.Body, `"large"`); n != entries || !strings.Contains(got.Body, `"small"`) || got.Err != nil {
			t.Errorf("id of %d bytes: %d entries in %d bytes, %v, want %d", size, n, len(got.Body), got.Err, entries)
		}
	}
}

// TestURLs: a result may name a URL, but not a local one.
func TestURLs(t *testing.T) {
	const own = "wais://192.0.2.1/db/URL/3=i;"
	for headline, want := range map[string]string{
		"http://h.example/a?b":        "http://h.example/a?b",
		" ftp://u:pw@h.example/a ":    "ftp://h.example/a",
		"wais://h.example/db?x":       "wais://h.example/db?x",
		"http://bücher.example/":      "http://xn--bcher-kva.example/",
		"file:///etc/passwd":          own,
		"imap://h.example/INBOX":      own,
		"telnet://h.example/":         own,
		"javascript:alert(1)":         own,
		"no URL at all, but headline": own,
	} {
		hit := z3950.Record{Kind: z3950.Document, ID: []byte(id), Types: [][]byte{[]byte("URL")}, Headline: []byte(headline)}
		c, _ := serve(t, ready(faultnet.Send(message(hit))))
		resp, err := c.Do(t.Context(), schemetest.NewRequest(t, host+"db?x"))
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range resp.Entries() {
			if err != nil || e.URL.Unredacted() != want {
				t.Errorf("%q leads to %s, %v, want %s", headline, e.URL.Unredacted(), err, want)
			}
		}
	}
}

// TestManyDiagnostics: the number of noted diagnostics is limited.
func TestManyDiagnostics(t *testing.T) {
	all := []z3950.Record{document("a")}
	for range 1000 {
		all = append(all, diagnostic("SD", "too many"))
	}
	c, _ := serve(t, ready(faultnet.Send(message(append(all, document("b"))...))))
	req := schemetest.NewRequest(t, host+"db?x")
	var notes []string
	req.Trace = &trace.Trace{Note: func(text string) { notes = append(notes, text) }}
	if got := outcome(c.Do(t.Context(), req)); !strings.Contains(got, `"b"`) || len(notes) != 10 {
		t.Errorf("got %s and %d notes", got, len(notes))
	}
}

// TestReturnedSession: a session that was returned to the pool is not used by
// its previous owner.
func TestReturnedSession(t *testing.T) {
	source := &waistest.Document{Path: "/db.src", Bodies: []waistest.Body{waistest.NewBody("WSRC", "(:source :database-name \"db\")")}}
	server := &waistest.Server{Databases: map[string]*waistest.Database{"db": {Source: source}}}
	c, _ := serve(t, faultnet.Script{server.Step()})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				req := schemetest.NewRequest(t, host+"db")
				req.Op = fetch.Stat
				if resp, err := c.Do(t.Context(), req); err != nil || resp.Header.Get("database-name") != "db" {
					t.Errorf("got %+v, %v", resp, err)
				}
			}
		})
	}
	all.Wait()
}
