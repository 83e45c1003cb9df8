package mirror_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	nethttp "net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/schemes/http"
)

// A codedSite is a server that compresses its bodies, whether or not the request
// accepts a content coding. It counts the responses by status.
type codedSite struct {
	files map[string]codedFile
	weak  bool // if true, entity tags are weak
	mu    sync.Mutex
	seen  map[int]int
}

// A codedFile is a body and its header fields.
type codedFile struct{ media, coding, body string }

// largeArchive returns a file that takes long to compress.
var largeArchive = sync.OnceValue(func() string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, randomText(3<<19))
	z.Close()
	return b.String()
})

func newCodedSite(t testing.TB) *codedSite {
	archive := gzipped(t, randomText(5000))
	return &codedSite{seen: map[int]int{}, files: map[string]codedFile{
		"/a.tgz":        {"application/x-tar", "x-gzip", archive},
		"/sub/copy.tgz": {"application/x-tar", "x-gzip", archive},
		"/b.Z":          {"application/octet-stream", "x-compress", "\x1f\x9d" + randomText(3000)},
		"/plain.txt":    {"text/plain", "", randomText(2000)},
		"/twice.html":   {"text/html", "gzip, gzip", gzipped(t, gzipped(t, randomText(4000)))},
		"/large.tgz":    {"application/x-tar", "x-gzip", largeArchive()},
		"/empty.txt":    {"text/plain", "gzip", gzipped(t, "")},
		"/wrong.txt":    {"text/plain", "gzip", randomText(2100)},
	}}
}

func (s *codedSite) ServeHTTP(w nethttp.ResponseWriter, r *nethttp.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.files[r.URL.Path]
	tag := fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256([]byte(f.body)))[:12])
	if s.weak {
		tag = "W/" + tag
	}
	code := 200
	switch {
	case !ok:
		code = 404
	case r.Header.Get("If-None-Match") == tag:
		code = 304
	}
	if r.URL.Path != "/robots.txt" {
		s.seen[code]++
	}
	if !ok {
		nethttp.NotFound(w, r)
		return
	}
	w.Header().Set("ETag", tag)
	w.Header().Set("Content-Type", f.media)
	if f.coding != "" {
		w.Header().Set("Content-Encoding", f.coding)
	}
	if w.WriteHeader(code); code == 200 {
		fmt.Fprint(w, f.body)
	}
}

// responses returns the number of responses by status, and resets them.
func (s *codedSite) responses() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := fmt.Sprint(s.seen)
	s.seen = map[int]int{}
	return text
}

// A codedCase describes an archive of a codedSite.
type codedCase struct {
	weak   bool // whether entity tags are weak
	client *http.Options
	set    func(*mirror.Options)
}

// newCodedArchive mirrors a codedSite twice.
func newCodedArchive(t *testing.T, c codedCase) (*codedSite, mirror.Options) {
	t.Helper()
	w, s := newNetwork(t), newCodedSite(t)
	w.web("a.example", s)
	o := w.options("http://a.example/")
	s.weak = c.weak
	if c.client != nil {
		options := fetch.Options{Policy: w.policy, Resolver: w, Dial: w.dial, Wrap: w.wrap}
		o.Client = fetch.New(options, schemes.All(schemes.Options{HTTP: *c.client})...)
		t.Cleanup(func() { o.Client.Close() })
		if !c.client.KeepCompressed { // these files cannot be decoded
			delete(s.files, "/wrong.txt")
			delete(s.files, "/b.Z")
		}
	}
	if c.set != nil {
		c.set(&o)
	}
	links := ""
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		links += "<a href=" + name + ">"
	}
	s.files["/"] = codedFile{"text/html", "gzip", gzipped(t, links)}
	run(t, o)
	s.responses()
	run(t, o)
	if got := s.responses(); got != fmt.Sprintf("map[304:%d]", len(s.files)) {
		t.Errorf("responses of the second run: %s", got)
	}
	checkVerify(t, o.Dir)
	return s, o
}

// codedCases are the archives of a codedSite that the tests use.
var codedCases = map[string]codedCase{
	"coded":             {},
	"weak entity tags":  {weak: true},
	"decoded":           {client: &http.Options{Compressed: true}},
	"decoded, weak":     {weak: true, client: &http.Options{Compressed: true}},
	"decoded, by names": {client: &http.Options{Compressed: true, KeepCompressed: true}},
	"transfer form":     {set: func(o *mirror.Options) { o.WARC.KeepTransferCoding = true }},
	"revisits":          {set: func(o *mirror.Options) { o.WARC.Unchanged = true }},
}

// TestHealCoded checks that Heal restores missing and damaged files of objects
// that have a content coding, also after the server has deleted them.
func TestHealCoded(t *testing.T) {
	t.Parallel()
	for name, c := range codedCases {
		t.Run(name, func(t *testing.T) {
			short.Sample(t, 6)
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, o := newCodedArchive(t, c)
				want := tree(t, o.Dir, "")
				for name := range want {
					remove(t, o.Dir, filepath.Join("tree", name))
				}
				paths, requeued := heal(t, o.Dir, mirror.HealOptions{})
				if got := tree(t, o.Dir, ""); digests(got) != digests(want) || requeued != 0 || len(paths) != len(want) {
					t.Errorf("restored %d of %d files, requeued %d: %q", len(got), len(want), requeued, paths)
				}
				checkVerify(t, o.Dir)

				delete(s.files, "/a.tgz")
				name := filepath.Join(o.Dir, "tree/http/a.example/a.tgz")
				flipAt(t, name, 300)
				if _, requeued := heal(t, o.Dir, mirror.HealOptions{}); requeued != 0 {
					t.Errorf("requeued %d", requeued)
				}
				run(t, o)
				if got := tree(t, o.Dir, ""); digests(got) != digests(want) {
					t.Errorf("a run after Heal changed the tree")
				}
				checkVerify(t, o.Dir)
			})
		})
	}
}

// TestRecoverCoded checks that Recover accepts an intact archive of objects that
// have a content coding. No file of the tree is replaced, and the next run
// downloads nothing.
func TestRecoverCoded(t *testing.T) {
	t.Parallel()
	for name, c := range codedCases {
		for _, lost := range []string{"", "crawl.jsonl"} {
			t.Run(strings.TrimSpace(name+" "+lost), func(t *testing.T) {
				short.Sample(t, 4)
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s, o := newCodedArchive(t, c)
					want := tree(t, o.Dir, "")
					remove(t, o.Dir, "fetch.db*")
					if lost != "" {
						remove(t, o.Dir, lost)
					}
					if r := recoverArchive(t, o); r.LostRecords != 0 || r.DamagedRecords != 0 {
						t.Errorf("lost %d, damaged %d", r.LostRecords, r.DamagedRecords)
					}
					if paths, requeued := heal(t, o.Dir, mirror.HealOptions{}); len(paths) > 0 || requeued > 0 {
						t.Errorf("Heal changed %q and requeued %d", paths, requeued)
					}
					sum := run(t, o)
					if got := s.responses(); got != fmt.Sprintf("map[304:%d]", len(s.files)) {
						t.Errorf("responses of the next run: %s; %+v", got, sum)
					}
					if got := tree(t, o.Dir, ""); digests(got) != digests(want) {
						t.Error("the tree has changed")
					}
					if _, err := os.Stat(filepath.Join(o.Dir, "attic")); err == nil {
						t.Error("files were moved to the attic")
					}
					checkVerify(t, o.Dir)
				})
			})
		}
	}
}

// TestHealOtherForm checks that Heal does not replace a file that has the bytes
// of its WARC record, if the database describes the object without its content
// coding. The program recovered such databases in an earlier version.
func TestHealOtherForm(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"response record": "http/a.example/a.tgz",
		"revisit record":  "http/a.example/sub/copy.tgz", // visited after a.tgz
	} {
		t.Run(name, func(t *testing.T) {
			short.Sample(t, 1)
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				_, o := newCodedArchive(t, codedCase{})
				want := tree(t, o.Dir, "")
				decoded := sha256.Sum256([]byte(randomText(5000)))
				change(t, o.Dir, "update capture set size=5000, digest=? where path=?", decoded[:], path)
				change(t, o.Dir, "update seal set rows=null")
				var found []mirror.Finding
				_, err := mirror.Heal(t.Context(), o.Dir, mirror.HealOptions{Report: func(f mirror.Finding) { found = append(found, f) }})
				if err != nil || len(found) != 1 || found[0].Note {
					t.Errorf("%v, %v", found, err)
				}
				if got := tree(t, o.Dir, ""); digests(got) != digests(want) {
					t.Error("the tree has changed")
				}
			})
		})
	}
}

// TestKeepCompressed checks that a client with KeepCompressed stores a file that
// is compressed itself with its content coding, and decodes pages.
func TestKeepCompressed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newCodedArchive(t, codedCases["decoded, by names"])
		got := tree(t, o.Dir, "http/a.example")
		for _, name := range []string{"/a.tgz", "/sub/copy.tgz", "/b.Z", "/wrong.txt"} {
			if got[name[1:]] != s.files[name].body {
				t.Errorf("%s: the file differs from the body", name)
			}
		}
		if !strings.HasPrefix(got["index.html"], "<a href") || got["twice.html"] != randomText(4000) {
			t.Errorf("pages: %.20q, %.20q", got["index.html"], got["twice.html"])
		}
	})
}
