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

	"github.com/anyurl/fetch/internal/faultnet"
	"github.com/anyurl/fetch/internal/waistest"
	"github.com/anyurl/fetch/internal/z3950"
)

// TestWAIS searches a database as the command does, brings what was found, and
// finds what is like it.
func TestWAIS(t *testing.T) {
	songs := waistest.NewText("/data/songs.txt", "Songs of whales", "The humpback whale sings.\n")
	ships := waistest.NewText("/data/ships.txt", "Ships", "A whaler hunts the whale, whale after whale.\n")
	var asked []*z3950.Query
	db := &waistest.Database{Documents: []*waistest.Document{songs, ships}}
	db.Rank = func(q *z3950.Query) []waistest.Hit {
		asked = append(asked, q)
		return []waistest.Hit{{Document: ships, Score: z3950.Some(1000)}, {Document: songs, Score: z3950.Some(333)}}
	}
	server := &waistest.Server{Databases: map[string]*waistest.Database{"sea": db}}
	l := faultnet.Listen(t, faultnet.Script{server.Step()})
	url := "wais://" + l.Addr().String() + "/sea"

	contains(t, fetchAs(t, 0, "search", url, "whale", "song"), "document           45", "Ships\n", "Songs of whales\n")
	found := strings.Fields(fetchAs(t, 0, "search", "--urls", url, "whale"))
	if len(found) != 2 {
		t.Fatalf("found %q", found)
	}
	if got := fetchAs(t, 0, found[1]); got != "The humpback whale sings.\n" {
		t.Errorf("the second hit is %q", got)
	}
	if got := fetchAs(t, 0, "-r", "4-11", found[1]); got != "humpback" {
		t.Errorf("a range of it is %q", got)
	}
	contains(t, fetchAs(t, 0, "info", found[1]), `"kind":"document"`, `"size":26`)
	contains(t, fetchAs(t, 0, "search", "--json", "--max", "7", "--like", found[1], url), `"score":"333"`)
	last := asked[len(asked)-1]
	if len(last.Words) != 0 || last.Max.Value != 7 || len(last.Like) != 1 || !strings.Contains(string(last.Like[0].ID), "/data/songs.txt") {
		t.Errorf("--like asked %+v", last)
	}
	contains(t, fetchAs(t, 0, "ls", url+"?whale"), "Ships")
	fetchAs(t, 2, url)
	fetchAs(t, 8, url+"/TEXT/5/3=0%200%20/none;")
	fetchAs(t, 12, "search", "--like", "wais://192.0.2.1/sea/TEXT/1/3=a;", url)
}

// TestWAISMany: a search that reaches its limit prints a note, and a mirror
// fetches all documents.
func TestWAISMany(t *testing.T) {
	db := &waistest.Database{}
	for n := range 50 {
		db.Documents = append(db.Documents, waistest.NewText(fmt.Sprintf("/data/%d", n), fmt.Sprintf("number %d", n), "whale\n"))
	}
	server := &waistest.Server{Databases: map[string]*waistest.Database{"sea": db}}
	step := faultnet.Script{server.Step()}
	l := faultnet.Listen(t, step, step, step, step)
	url := "wais://" + l.Addr().String() + "/sea"
	for _, args := range [][]string{{"search", url, "whale"}, {"ls", url + "?whale"}} {
		var out, said bytes.Buffer
		got := run(append([]string{"--no-config"}, args...), strings.NewReader(""), &out, &said)
		if n := strings.Count(out.String(), "\n"); got != 0 || n != 40 || !strings.Contains(said.String(), "there may be more") || !strings.Contains(said.String(), "max=N in the URL") {
			t.Errorf("%q: exit code %d, %d lines, %s", args, got, n, &said)
		}
	}
	dir := filepath.Join(t.TempDir(), "archive")
	fetchAs(t, 0, "mirror", "--output-dir", dir, "--delay", "0", "--per-host", "1", url+"?whale")
	log, err := os.ReadFile(filepath.Join(dir, "crawl.jsonl"))
	if n := strings.Count(string(log), `"media":"text/plain"`); err != nil || n != 50 {
		t.Errorf("%d documents, %v", n, err)
	}
}

// breaking is a connection that breaks once so much was written.
type breaking struct {
	*faultnet.Conn
	left int
}

func (c *breaking) Write(p []byte) (int, error) {
	if c.left -= len(p); c.left < 0 {
		return 0, io.ErrClosedPipe
	}
	return c.Conn.Write(p)
}

// TestWAISResume: a document that breaks off is continued by the next chunk
// that is missing, and not asked for again.
func TestWAISResume(t *testing.T) {
	text := strings.Repeat("Line of a large document\n", 20_000)
	db := &waistest.Database{Documents: []*waistest.Document{waistest.NewText("/a", "a", text)}}
	server := &waistest.Server{Databases: map[string]*waistest.Database{"db": db}}
	second := 0
	l := faultnet.Listen(t,
		faultnet.Script{faultnet.Do("serve a part", func(c *faultnet.Conn) error { server.Serve(&breaking{c, 300_000}); return nil })},
		faultnet.Script{faultnet.Do("serve the rest", func(c *faultnet.Conn) error {
			b := &breaking{c, 1 << 20}
			defer func() { second = 1<<20 - b.left }()
			return server.Serve(b)
		})})
	got := fetchAs(t, 0, "--retry", "1", "--retry-delay", "0.01", fmt.Sprintf("wais://%s/db/TEXT/%d/3=0%%200%%20/a;", l.Addr(), len(text)))
	if got != text {
		t.Errorf("got %d bytes, want %d", len(got), len(text))
	}
	l.Close()
	if second == 0 || second > 250_000 {
		t.Errorf("%d bytes came over the second connection", second)
	}
}

// TestWAISGateway: where a gateway is named, it is asked for the whole URL, a
// search's too, unless a flag wants another way.
func TestWAISGateway(t *testing.T) {
	var asked string
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.RequestURI
		fmt.Fprint(w, "by gateway\n")
	}))
	defer gateway.Close()
	db := &waistest.Database{Documents: []*waistest.Document{waistest.NewText("/a", "a", "itself\n")}}
	l := faultnet.Listen(t, faultnet.Script{(&waistest.Server{Databases: map[string]*waistest.Database{"sea": db}}).Step()})
	there, here := "wais://192.0.2.1/sea/TEXT/8/1=h;2=sea;3=a%20b;", "wais://"+l.Addr().String()+"/sea/TEXT/7/3=0%200%20/a;"
	for _, c := range []struct {
		variable, value string
		args            []string
		asked           string // "": the server itself answers
	}{
		{"", "", []string{"--gateway", "wais=" + gateway.URL, there}, there},
		{"wais_proxy", gateway.URL, []string{there}, there},
		{"WAIS_PROXY", gateway.URL, []string{there}, there},
		{"", "", []string{"search", "--native", "--gateway", "wais=" + gateway.URL, "wais://192.0.2.1/sea", "big", "whale"}, "wais://192.0.2.1/sea?big+whale"},
		{"wais_proxy", gateway.URL, []string{"search", "--native", "wais://192.0.2.1/sea", "big", "whale"}, "wais://192.0.2.1/sea?big+whale"},
		{"wais_proxy", gateway.URL, []string{"--noproxy", "127.0.0.1", here}, ""},
		{"wais_proxy", gateway.URL, []string{"-x", "", here}, ""},
		{"no_proxy", "127.0.0.1", []string{"--gateway", "wais=" + gateway.URL, here}, here},
	} {
		t.Run(c.variable+" "+c.args[0], func(t *testing.T) {
			if c.variable != "" {
				t.Setenv(c.variable, c.value)
			}
			asked = ""
			want := "by gateway\n"
			if c.asked == "" {
				want = "itself\n"
			}
			if got := fetchAs(t, 0, c.args...); got != want || asked != c.asked {
				t.Errorf("got %q, and the gateway was asked for %q, want %q", got, asked, c.asked)
			}
		})
	}
	t.Setenv("wais_proxy", gateway.URL)
	t.Setenv("no_proxy", "127.0.0.1")
	if got := fetchAs(t, 0, here); got != "itself\n" {
		t.Errorf("no_proxy: got %q", got)
	}
	asked = ""
	fetchAs(t, 4, "--retry", "0", "-x", "http://127.0.0.1:9", there)
	if asked != "" {
		t.Errorf("--proxy: the gateway was asked for %q", asked)
	}
}
