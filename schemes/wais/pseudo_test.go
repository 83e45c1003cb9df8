package wais_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/test/waistest"
	"github.com/anyurl/fetch/internal/wire/z3950"
	"github.com/anyurl/fetch/schemes/wais"
)

// pseudo returns a pseudo result of freeWAIS.
func pseudo(kind, headline string) z3950.Record {
	id := z3950.DocumentID{{Tag: z3950.OriginalDatabase, Value: []byte("db")}, {Tag: z3950.OriginalLocalID, Value: []byte("0 0 /db")}, {Tag: z3950.Copyright, Value: []byte{0}}}
	return z3950.Record{Kind: z3950.Document, ID: id.Append(nil), Types: [][]byte{[]byte(kind)}, Headline: []byte(headline)}
}

var (
	information = pseudo("WSRC", "Information on database: db")
	catalogue   = pseudo("TEXT", "Catalog for database: db")
	noResult    = pseudo("TEXT", "Search produced no result. Here's the Catalog for database: db")
	missing     = diagnostic("S1", "The following database is not available: db")
)

// TestPseudoResults: a diagnostic beside pseudo results is the error of the
// search.
func TestPseudoResults(t *testing.T) {
	const like = "&like=TEXT/5/3=a;"
	syntax := diagnostic("S1", "query syntax error: (whale")
	real := document("a")
	for _, c := range []struct {
		name, query string
		answer      []z3950.Record
		fault       string
		entries     int
		notes       int
	}{
		{"syntax error behind them", "(whale", []z3950.Record{information, catalogue, syntax}, "server-perm", 0, 0},
		{"syntax error before them", "(whale", []z3950.Record{syntax, information, catalogue}, "server-perm", 0, 0},
		{"syntax error and no result", "(whale", []z3950.Record{noResult, syntax}, "server-perm", 0, 0},
		{"no such database", "", []z3950.Record{information, missing}, "not-found", 0, 0},
		{"no words", "", []z3950.Record{information, catalogue}, "ok", 2, 0},
		{"no result", "x", []z3950.Record{noResult}, "ok", 1, 0},
		{"a document like one, without words", like, []z3950.Record{information, catalogue}, "need-query", 0, 0},
		{"the same with a diagnostic", like, []z3950.Record{information, syntax}, "server-perm", 0, 0},
		{"the same of a server that finds some", like, []z3950.Record{real}, "ok", 1, 0},
		{"a document like one, with words", "x" + like, []z3950.Record{noResult}, "ok", 1, 0},
		{"no result, by an id that names a server", "(whale", []z3950.Record{{Kind: z3950.Document, ID: []byte("\x01\x01h\x03\x01i"), Score: z3950.Some(0), Headline: []byte("Search produced no result. Here it is")}, syntax}, "server-perm", 0, 0},
		{"a hit among them", "x", []z3950.Record{information, syntax, real}, "ok", 2, 1},
		{"a hit before a diagnostic", "x", []z3950.Record{real, syntax}, "ok", 1, 1},
		{"a hit that looks like one", "x", []z3950.Record{{Kind: z3950.Document, ID: []byte("\x01\x01h\x03\x01i"), Types: [][]byte{[]byte("TEXT")}, Headline: []byte("Catalog for database: db")}, syntax}, "ok", 1, 1},
		{"many of them", "x", append(slices.Repeat([]z3950.Record{information}, 20), real, syntax), "ok", 21, 1},
	} {
		client, _ := serve(t, faultnet.Script{readRequest, faultnet.Send(initOK(100_000)), readRequest, faultnet.Send(message(c.answer...))})
		got := get(t.Context(), t, client, host+"db?"+strings.ReplaceAll(c.query, "(", "%28"))
		if n := strings.Count(got.Body, "\n"); got.Fault() != c.fault || n != c.entries {
			t.Errorf("%s: got %s, %d entries, %v, want %s, %d", c.name, got.Fault(), n, got.Err, c.fault, c.entries)
		}
	}
}

// TestInfoMissing: metadata of a missing database is an error for every form of
// response.
func TestInfoMissing(t *testing.T) {
	send := func(records ...z3950.Record) faultnet.Step { return faultnet.Send(message(records...)) }
	id := string(information.ID)
	for _, c := range []struct {
		name    string
		scripts []faultnet.Script
		fault   string
	}{
		{"diagnostic", []faultnet.Script{ready(send(missing))}, "not-found"},
		{"diagnostic beside pseudo results", []faultnet.Script{ready(send(information, missing))}, "not-found"},
		{"nothing, and a search says why", []faultnet.Script{ready(send(), readRequest, send(missing))}, "not-found"},
		{"no description, and a search says why", []faultnet.Script{ready(send(noResult), readRequest, send(catalogue, missing))}, "not-found"},
		{"an empty description, and a search says why", []faultnet.Script{ready(send(information), readRequest, send(chunk(id, ""), diagnostic("SF", "range")), readRequest, send(missing))}, "not-found"},
		{"the server dies, and a search says why", []faultnet.Script{ready(send(information), readRequest), ready(send(missing))}, "not-found"},
		{"the server dies twice", []faultnet.Script{ready(send(information), readRequest), ready()}, "connect"},
		{"the server dies, and a search finds some", []faultnet.Script{ready(send(information), readRequest), ready(send(document("a")))}, "connect"},
		{"a database without a description", []faultnet.Script{ready(send(catalogue), readRequest, send(noResult))}, "ok"},
		{"a search of stop words", []faultnet.Script{ready(send(catalogue), readRequest, send(diagnostic("S5", "only stop words")))}, "ok"},
	} {
		client, _ := serve(t, c.scripts...)
		req := schemetest.NewRequest(t, host+"db")
		req.Op = fetch.Stat
		resp, err := client.Do(t.Context(), req)
		fault := "ok"
		if err != nil {
			fault = fetch.FaultOf(err).String()
		}
		if fault != c.fault || err == nil && len(resp.Head) != 0 {
			t.Errorf("%s: got %s, %v, want %s", c.name, fault, err, c.fault)
		}
	}
}

// TestRetrieveMissing: if the server closes the connection without a response,
// a search determines whether the database exists.
func TestRetrieveMissing(t *testing.T) {
	for _, c := range []struct {
		name    string
		scripts []faultnet.Script
		fault   string
	}{
		{"a search says why", []faultnet.Script{ready(), ready(faultnet.Send(message(missing)))}, "not-found"},
		{"a search finds some", []faultnet.Script{ready(), ready(faultnet.Send(message(document("a"))))}, "connect"},
		{"the server is gone", []faultnet.Script{ready()}, "connect"},
	} {
		client, _ := serve(t, c.scripts...)
		if got := get(t.Context(), t, client, host+known); got.Fault() != c.fault {
			t.Errorf("%s: got %s, %v, want %s", c.name, got.Fault(), got.Err, c.fault)
		}
	}
}

// many is a database of n documents that contain the word whale.
func many(n int) *waistest.Database {
	db := &waistest.Database{}
	for i := range n {
		db.Documents = append(db.Documents, waistest.NewText(fmt.Sprintf("/data/%d", i), fmt.Sprint("document ", i), "whale\n"))
	}
	return db
}

// TestLimit: a note reports that results may be missing.
func TestLimit(t *testing.T) {
	for _, c := range []struct {
		name    string
		n       int
		query   string
		buffer  uint32
		results int
		note    string
	}{
		{"fewer than asked for", 39, "", 0, 39, ""},
		{"as many", 40, "", 0, 40, "limited to 40 documents and found 40"},
		{"more", 50, "", 0, 40, "limited to 40 documents and found 40"},
		{"more than max", 50, "&max=7", 0, 7, "limited to 7 documents and found 7"},
		{"fewer than max", 50, "&max=60", 0, 50, ""},
		{"more than fit", 50, "", 2000, -1, "at most 2000 bytes"},
		{"none", 0, "", 0, 0, ""},
	} {
		server := &waistest.Server{Databases: map[string]*waistest.Database{"db": many(c.n)}, Buffer: c.buffer}
		client, _ := serve(t, faultnet.Script{server.Step()})
		req := schemetest.NewRequest(t, host+"db?whale"+c.query)
		var notes []string
		req.Trace = &trace.Trace{Note: func(text string) { notes = append(notes, text) }}
		got := outcome(client.Do(t.Context(), req))
		if n := strings.Count(got, "document \""); c.results >= 0 && n != c.results {
			t.Errorf("%s: %d results, want %d", c.name, n, c.results)
		}
		if all := strings.Join(notes, "\n"); c.note == "" && all != "" || !strings.Contains(all, c.note) {
			t.Errorf("%s: notes %q, want %q", c.name, all, c.note)
		}
	}
}

// TestAll: Options.All returns each document once, and increases the limit
// until the response stays below the limit.
func TestAll(t *testing.T) {
	capped := many(200)
	ranked := many(200)
	capped.Rank = func(q *z3950.Query) (results []waistest.Hit) { // at most 100
		for _, d := range capped.Documents[:min(q.Max.Value, 100)] {
			results = append(results, waistest.Hit{Document: d, Score: z3950.Some(1)})
		}
		return results
	}
	for _, c := range []struct {
		name, query string
		db          *waistest.Database
		results     int
		limits      []uint32
	}{
		{"all", "", ranked, 200, []uint32{40, 160, 640}},
		{"few", "", many(3), 3, []uint32{40}},
		{"as many as the limit", "", many(40), 40, []uint32{40, 160}},
		{"a max in the URL", "&max=50", ranked, 50, []uint32{50}},
		{"a limit of the server", "", capped, 100, []uint32{40, 160}},
	} {
		server := &waistest.Server{Databases: map[string]*waistest.Database{"db": c.db}}
		n := faultnet.NewNetwork(t)
		s := n.Serve("192.0.2.1:210", faultnet.Script{server.Step()})
		client := fetch.New(fetch.Options{Policy: fetch.Typed(), Dial: n.Dial}, wais.Schemes(wais.Options{All: true})...)
		resp, err := client.Get(t.Context(), host+"db?whale"+c.query)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for e, err := range resp.Entries() {
			if err != nil || names[e.Name] {
				t.Fatalf("%s: %q once more, or %v", c.name, e.Name, err)
			}
			names[e.Name] = true
		}
		all, _ := messages(t, client, s, 0)
		var limits []uint32
		for _, p := range all[1:] {
			limits = append(limits, p.(*z3950.Search).Query.Max.Value)
		}
		if len(names) != c.results || !slices.Equal(limits, c.limits) {
			t.Errorf("%s: %d results by limits %d, want %d by %d", c.name, len(names), limits, c.results, c.limits)
		}
	}
}
