package mirror_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/internal/test/short"
)

// TestPlantedDigests checks that a revisit record refers only to a record with
// the same content, even if the database was manipulated.
func TestPlantedDigests(t *testing.T) {
	t.Parallel()
	good, evil := strings.Repeat("good\n", 500), strings.Repeat("evil\n", 500)
	sum := sha256.Sum256([]byte(good))
	first := int64(binary.BigEndian.Uint64(sum[:]))
	const ofEvil = " where item = (select id from url where url like '%/evil')"
	const ofTagged = " where item = (select id from url where url like '%/tagged')"
	for name, c := range map[string]struct {
		plant string // statement for the database
		args  []any
		url   string
		types string // types of the records of url, by both runs
	}{
		"no change":                {url: "/copy", types: "revisit identical-payload-digest"},
		"other digest":             {"update capture set digest=?, sum=?" + ofEvil, []any{sum[:], first}, "/good", "response"},
		"other offset":             {"update capture set at=0, digest=?, sum=?" + ofEvil, []any{sum[:], first}, "/good", "response"},
		"no offset":                {"update capture set at=-1, digest=?, sum=?" + ofEvil, []any{sum[:], first}, "/good", "response"},
		"other proof":              {"update capture set proof='sha256:AAAA'" + ofEvil, nil, "/evil", "response, response"},
		"other record":             {"update capture set record='urn:uuid:1'" + ofEvil, nil, "/evil", "response, response"},
		"file that does not exist": {"update file set name='x.warc.gz'", nil, "/evil", "response, response"},
		"unchanged":                {url: "/tagged", types: "response, revisit server-not-modified"},
		"unchanged, other digest": {"update capture set digest=(select digest from capture" + ofEvil + "), sum=(select sum from capture" + ofEvil + ")" + ofTagged,
			nil, "/tagged", "response, revisit server-not-modified"},
		"unchanged, other proof": {"update capture set proof=(select proof from capture" + ofEvil + "), digest=(select digest from capture" + ofEvil + ")" + ofTagged,
			nil, "/tagged", "response, response"},
	} {
		t.Run(name, func(t *testing.T) {
			short.Sample(t, 6)
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				s := &taggedSite{webSite{"/": `<a href=evil><a href=tagged>`, "/evil": evil, "/tagged": strings.Repeat("t", 2000)}, "1", 0}
				w.web("a.example", s)
				o := w.options("http://a.example/")
				o.Tree, o.MaxLost = false, 1
				run(t, o)
				if c.plant != "" {
					change(t, o.Dir, c.plant, c.args...)
					change(t, o.Dir, "update seal set rows=null") // an attacker can also write a matching digest
				}
				s.webSite["/"], s.tag = s.webSite["/"]+`<a href=good><a href=copy>`, "2"
				if c.url == "/tagged" {
					s.tag = "1"
				}
				s.webSite["/good"], s.webSite["/copy"] = good, evil
				run(t, o)
				if got := strings.Join(recordsOf(t, o.Dir, "http://a.example"+c.url), ", "); got != c.types {
					t.Errorf("records %q, want %q", got, c.types)
				}
			})
		})
	}
}

// change executes an SQL statement in the database of an archive.
func change(t *testing.T, dir, statement string, args ...any) {
	t.Helper()
	c, err := sqlite.Open("file:" + filepath.ToSlash(filepath.Join(dir, "fetch.db")))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Exec(statement, args...); err != nil {
		t.Fatal(err)
	}
	if c.Changes() == 0 {
		t.Fatal("the change had no effect")
	}
}

// TestDuplicateCodings checks that a body with a content coding is recorded once
// if the client does not decode bodies.
func TestDuplicateCodings(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for i := range 2000 {
		fmt.Fprintf(z, "%x\n", sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
	}
	z.Close()
	var second atomic.Value // a link that the second process finds
	second.Store("one")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			fmt.Fprintf(w, `<a href=one><a href=%s>`, second.Load())
		case "/one", "/two":
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Type", "text/plain")
			w.Write(packed.Bytes())
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	o := options(t, s.URL+"/")
	run(t, o)
	second.Store("two")
	run(t, o)
	got := recordsOf(t, o.Dir, s.URL+"/one")
	got = append(got, recordsOf(t, o.Dir, s.URL+"/two")...)
	slices.Sort(got)
	if strings.Join(got, ", ") != "response, revisit identical-payload-digest, revisit identical-payload-digest" {
		t.Errorf("got records %q", got)
	}
}
