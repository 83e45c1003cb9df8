package warc

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

var update = flag.Bool("update", false, "write testdata anew")

// TestGolden: each record of the sample is these bytes.
func TestGolden(t *testing.T) {
	opts := testOptions()
	opts.Uncompressed = true
	opts.Info = fetch.Header{{Name: "hostname", Value: "crawler.example"}, {Name: "operator", Value: "A Person <a@crawler.example>"}, {Name: "robots", Value: "obey"}}
	got, err := os.ReadFile(sample(t, opts))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/sample.warc", got)
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		at := 0
		for at < min(len(got), len(want)) && got[at] == want[at] {
			at++
		}
		t.Errorf("%s differs at byte %d:\ngot  %q\nwant %q", name, at, around(got, at), around(want, at))
	}
}

func around(b []byte, at int) []byte { return b[max(0, at-40):min(len(b), at+80)] }

// TestMembers: each record is a gzip member at the place that Write returned,
// and holds the bytes that it has where nothing is packed.
func TestMembers(t *testing.T) {
	dir := testFolder(t)
	w := testWriter(t, dir, testOptions())
	places := writeSample(t, w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	packed, err := dir.ReadFile(places[0].File)
	if err != nil {
		t.Fatal(err)
	}
	end := places[0].Offset
	for _, p := range places {
		if p.Offset != end {
			t.Errorf("record at %d follows one that ends at %d", p.Offset, end)
		}
		end = p.End()
		z, err := gzip.NewReader(bytes.NewReader(packed[p.Offset:end]))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil || !strings.HasPrefix(string(text), "WARC/1.1\r\n") || !bytes.Contains(text, []byte("<"+p.ID+">")) || !bytes.HasSuffix(text, []byte("\r\n\r\n")) {
			t.Errorf("member at %d: %v %.80q", p.Offset, err, text)
		}
	}
	if end != int64(len(packed)) {
		t.Errorf("last record ends at %d of %d", end, len(packed))
	}
}

func TestRefuse(t *testing.T) {
	c := at("http://h.example/", 0)
	one := func(change func(r *Record)) *Record {
		r := c.Resource("text/plain", text("x"))
		change(r)
		return r
	}
	for name, r := range map[string]*Record{
		"line end in media":    c.Resource("text/plain\r\nWARC-Type: x", text("x")),
		"NUL in identifier":    one(func(r *Record) { r.ID = "urn:x\x00" }),
		"line end in protocol": one(func(r *Record) { r.Protocols = []string{"h2", "a\nb"} }),
		"field with a colon":   one(func(r *Record) { r.Fields = fetch.Header{{Name: "a:b", Value: "c"}} }),
		"field without name":   one(func(r *Record) { r.Fields = fetch.Header{{Value: "c"}} }),
		"line end in a field":  one(func(r *Record) { r.Fields = fetch.Header{{Name: "a", Value: "b\rc"}} }),
		"no URL":               Capture{}.Resource("", text("x")),
		"continuation":         one(func(r *Record) { r.Type = Continuation }),
		"warcinfo":             one(func(r *Record) { r.Type = Info }),
		"no type":              one(func(r *Record) { r.Type = "" }),
		"revisit, no digest":   c.Revisit(Reference{}, "", nil),
		"revisit, no profile":  one(func(r *Record) { r.Type = Revisit }),
		"read once, no digest": c.Resource("", io.MultiReader(text("x"))),
	} {
		t.Run(name, func(t *testing.T) {
			dir := testFolder(t)
			w := testWriter(t, dir, testOptions())
			if _, err := w.Write(c.Resource("", text("first")), r); !errors.Is(err, fetch.Usage) {
				t.Errorf("got error %v", err)
			}
			if files := names(t, dir); len(files) != 0 {
				t.Errorf("wrote %q", files)
			}
		})
	}
	for _, opts := range []Options{{Prefix: "a/b"}, {Prefix: ".."}, {Worker: "a b"}, {Info: fetch.Header{{Name: "a", Value: "b\nc"}}}} {
		if _, err := NewWriter(testFolder(t), opts); !errors.Is(err, fetch.Usage) {
			t.Errorf("%+v: error %v", opts, err)
		}
	}
}

func names(t testing.TB, dir *os.Root) (all []string) {
	t.Helper()
	list, err := os.ReadDir(dir.Name())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		all = append(all, e.Name())
	}
	return all
}

// TestReadOnce: a block that can be read only once is held to what was said
// of it, and the group goes where it is something else.
func TestReadOnce(t *testing.T) {
	const block = "the whole block"
	d := NewDigester(SHA256, Resource)
	io.WriteString(d, block)
	for name, tc := range map[string]struct {
		body  string
		fault error
	}{
		"as said": {block, nil},
		"short":   {block[1:], fetch.Truncated},
		"other":   {"The whole block", fetch.Mismatch},
		"longer":  {block + "?", nil}, // the rest is another's
	} {
		t.Run(name, func(t *testing.T) {
			dir := testFolder(t)
			w := testWriter(t, dir, testOptions())
			before := mustWrite(t, w, at("file:///a", 0).Resource("", text("a")))[0]
			r := at("file:///b", 0).Resource("", io.MultiReader(text(tc.body)))
			r.Size, r.BlockDigest, r.PayloadDigest = d.Size(), d.Block(), d.Payload()
			if _, err := w.Write(r); !errors.Is(err, tc.fault) {
				t.Fatalf("error %v", err)
			}
			after := mustWrite(t, w, at("file:///c", 0).Resource("", text("c")))[0]
			if tc.fault != nil && after.Offset != before.End() {
				t.Errorf("the next record is at %d, not %d", after.Offset, before.End())
			}
			w.Close()
			for f, err := range Verify(dir.Name() + "/" + after.File) {
				t.Error(f, err)
			}
		})
	}
}

// TestInterim: a response begins with the head of its answer.
func TestInterim(t *testing.T) {
	const interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
	dir := testFolder(t)
	w := testWriter(t, dir, testOptions())
	body := strings.NewReader("?" + interim + plainAnswer)
	body.ReadByte() // it is read from where it stands
	p := mustWrite(t, w, at("http://h.example/", 0).Response(body))[0]
	if want := SHA1.sum(plainAnswer); p.BlockDigest != want || p.PayloadDigest != helloSum {
		t.Errorf("digests %s, %s", p.BlockDigest, p.PayloadDigest)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := dir.Open(p.File)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := NewReaderAt(f, p.Offset)
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if block, err := io.ReadAll(r); string(block) != plainAnswer || err != nil {
		t.Errorf("block %q, %v", block, err)
	}
	head, err := HTTPHead(strings.NewReader(interim + plainAnswer))
	if want := strings.TrimSuffix(plainAnswer, "hello"); string(head) != want || err != nil {
		t.Errorf("head %q, %v", head, err)
	}
}

// TestTarget: no record shows a password or what is not asked of a server.
func TestTarget(t *testing.T) {
	for _, tc := range [][2]string{
		{"http://h.example/a?b#c", "http://h.example/a?b"},
		{"ftp://u:p@h.example/", "ftp://u@h.example/"},
		{"ftp://:p@h.example/", "ftp://@h.example/"},
		{"imap://u;AUTH=*@h.example/", "imap://u;AUTH=*@h.example/"},
		{"news:a@b.example", "news:a@b.example"},
	} {
		if got := targetURI(uri.MustParse(tc[0])); got != tc[1] {
			t.Errorf("%s: got %s, want %s", tc[0], got, tc[1])
		}
	}
	u, err := uri.ParseZone("http://u:p@[fe80::1%25eth0]/")
	if err != nil {
		t.Fatal(err)
	}
	if got := targetURI(u); strings.Contains(got, ":p@") {
		t.Errorf("got %s", got)
	}
}
