package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/waistest"
	"github.com/anyurl/fetch/internal/wire/z3950"
)

// TestWAIS searches a database, fetches a document that was found, and searches
// for similar documents.
func TestWAIS(t *testing.T) {
	songs := waistest.NewText("/data/songs.txt", "Songs of whales", "The humpback whale sings.\n")
	ships := waistest.NewText("/data/ships.txt", "Ships", "A whaler hunts the whale, whale after whale.\n")
	var queries []*z3950.Query
	db := &waistest.Database{Documents: []*waistest.Document{songs, ships}}
	db.Rank = func(q *z3950.Query) []waistest.Hit {
		queries = append(queries, q)
		return []waistest.Hit{{Document: ships, Score: z3950.Some(1000)}, {Document: songs, Score: z3950.Some(333)}}
	}
	server := &waistest.Server{Databases: map[string]*waistest.Database{"sea": db}}
	l := faultnet.Listen(t, faultnet.Script{server.Step()})
	url := "wais://" + l.Addr().String() + "/sea"

	contains(t, runFetch(t, 0, "search", url, "whale", "song"), "document           45", "Ships\n", "Songs of whales\n")
	found := strings.Fields(runFetch(t, 0, "search", "--urls", url, "whale"))
	if len(found) != 2 {
		t.Fatalf("search: got %q", found)
	}
	if got := runFetch(t, 0, found[1]); got != "The humpback whale sings.\n" {
		t.Errorf("second document: got %q", got)
	}
	if got := runFetch(t, 0, "-r", "4-11", found[1]); got != "humpback" {
		t.Errorf("range: got %q", got)
	}
	contains(t, runFetch(t, 0, "info", found[1]), `"kind":"document"`, `"size":26`)
	contains(t, runFetch(t, 0, "search", "--json", "--max", "7", "--like", found[1], url), `"score":"333"`)
	last := queries[len(queries)-1]
	if len(last.Words) != 0 || last.Max.Value != 7 || len(last.Like) != 1 ||
		!strings.Contains(string(last.Like[0].ID), "/data/songs.txt") {
		t.Errorf("--like sent %+v", last)
	}
	contains(t, runFetch(t, 0, "ls", url+"?whale"), "Ships")
	runFetch(t, 2, url)
	runFetch(t, 8, url+"/TEXT/5/3=0%200%20/none;")
	runFetch(t, 12, "search", "--like", "wais://192.0.2.1/sea/TEXT/1/3=a;", url)
}

// TestWAISMany checks that a search which reaches its limit prints a note, and
// that a mirror fetches all documents.
func TestWAISMany(t *testing.T) {
	db := &waistest.Database{}
	for n := range 50 {
		db.Documents = append(db.Documents, waistest.NewText(fmt.Sprintf("/data/%d", n), fmt.Sprintf("number %d", n),
			"whale\n"))
	}
	server := &waistest.Server{Databases: map[string]*waistest.Database{"sea": db}}
	step := faultnet.Script{server.Step()}
	l := faultnet.Listen(t, step, step, step, step)
	url := "wais://" + l.Addr().String() + "/sea"
	for _, args := range [][]string{{"search", url, "whale"}, {"ls", url + "?whale"}} {
		var out, stderr bytes.Buffer
		got := app.Run(append([]string{"--no-config"}, args...), strings.NewReader(""), &out, &stderr)
		if n := strings.Count(out.String(), "\n"); got != 0 || n != 40 ||
			!strings.Contains(stderr.String(), "there may be more") ||
			!strings.Contains(stderr.String(), "max=N in the URL") {
			t.Errorf("%q: exit code %d, %d lines, %s", args, got, n, &stderr)
		}
	}
	dir := filepath.Join(t.TempDir(), "archive")
	runFetch(t, 0, "mirror", "--output-dir", dir, "--delay", "0", "--per-host", "1", url+"?whale")
	log, err := os.ReadFile(filepath.Join(dir, "crawl.jsonl"))
	if n := strings.Count(string(log), `"media":"text/plain"`); err != nil || n != 50 {
		t.Errorf("got %d documents, %v, want 50", n, err)
	}
}

// A breakingConn is a connection that fails after it has written a number of
// bytes.
type breakingConn struct {
	*faultnet.Conn
	remaining int // bytes until the failure
}

func (c *breakingConn) Write(p []byte) (int, error) {
	if c.remaining -= len(p); c.remaining < 0 {
		return 0, io.ErrClosedPipe
	}
	return c.Conn.Write(p)
}

// TestWAISResume checks that a document is resumed at the first missing chunk
// after the connection was lost.
func TestWAISResume(t *testing.T) {
	text := strings.Repeat("Line of a large document\n", 20_000)
	db := &waistest.Database{Documents: []*waistest.Document{waistest.NewText("/a", "a", text)}}
	server := &waistest.Server{Databases: map[string]*waistest.Database{"db": db}}
	second := 0
	l := faultnet.Listen(t,
		faultnet.Script{faultnet.Do("serve a part",
			func(c *faultnet.Conn) error { server.Serve(&breakingConn{c, 300_000}); return nil })},
		faultnet.Script{faultnet.Do("serve the rest", func(c *faultnet.Conn) error {
			b := &breakingConn{c, 1 << 20}
			defer func() { second = 1<<20 - b.remaining }()
			return server.Serve(b)
		})})
	got := runFetch(t, 0, "--retry", "1", "--retry-delay", "0.01",
		fmt.Sprintf("wais://%s/db/TEXT/%d/3=0%%200%%20/a;", l.Addr(), len(text)))
	if got != text {
		t.Errorf("got %d bytes, want %d", len(got), len(text))
	}
	l.Close()
	if second == 0 || second > 250_000 {
		t.Errorf("%d bytes on the second connection", second)
	}
}

// TestWAISGateway checks that a gateway receives the complete URL of a document
// or a search, unless a flag disables the gateway.
func TestWAISGateway(t *testing.T) {
	var request string
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request = r.RequestURI
		fmt.Fprint(w, "by gateway\n")
	}))
	defer gateway.Close()
	db := &waistest.Database{Documents: []*waistest.Document{waistest.NewText("/a", "a", "itself\n")}}
	l := faultnet.Listen(t, faultnet.Script{(&waistest.Server{Databases: map[string]*waistest.Database{"sea": db}}).Step()})
	remote, local := "wais://192.0.2.1/sea/TEXT/8/1=h;2=sea;3=a%20b;",
		"wais://"+l.Addr().String()+"/sea/TEXT/7/3=0%200%20/a;"
	for _, c := range []struct {
		variable, value string
		args            []string
		request         string // empty if the server is used directly
	}{
		{"", "", []string{"--gateway", "wais=" + gateway.URL, remote}, remote},
		{"wais_proxy", gateway.URL, []string{remote}, remote},
		{"WAIS_PROXY", gateway.URL, []string{remote}, remote},
		{"", "", []string{"search", "--native", "--gateway", "wais=" + gateway.URL, "wais://192.0.2.1/sea", "big",
			"whale"}, "wais://192.0.2.1/sea?big+whale"},
		{"wais_proxy", gateway.URL, []string{"search", "--native", "wais://192.0.2.1/sea", "big", "whale"},
			"wais://192.0.2.1/sea?big+whale"},
		{"wais_proxy", gateway.URL, []string{"--noproxy", "127.0.0.1", local}, ""},
		{"wais_proxy", gateway.URL, []string{"-x", "", local}, ""},
		{"no_proxy", "127.0.0.1", []string{"--gateway", "wais=" + gateway.URL, local}, local},
	} {
		t.Run(c.variable+" "+c.args[0], func(t *testing.T) {
			if c.variable != "" {
				t.Setenv(c.variable, c.value)
			}
			request = ""
			want := "by gateway\n"
			if c.request == "" {
				want = "itself\n"
			}
			if got := runFetch(t, 0, c.args...); got != want || request != c.request {
				t.Errorf("got %q, request to the gateway %q, want %q", got, request, c.request)
			}
		})
	}
	t.Setenv("wais_proxy", gateway.URL)
	t.Setenv("no_proxy", "127.0.0.1")
	if got := runFetch(t, 0, local); got != "itself\n" {
		t.Errorf("no_proxy: got %q", got)
	}
	request = ""
	runFetch(t, 4, "--retry", "0", "-x", "http://127.0.0.1:9", remote)
	if request != "" {
		t.Errorf("--proxy: request to the gateway %q", request)
	}
}
