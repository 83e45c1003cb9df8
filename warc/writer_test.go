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
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

var update = flag.Bool("update", false, "overwrite the golden files")

// TestGolden compares the sample with a golden file.
func TestGolden(t *testing.T) {
	opts := testOptions()
	opts.Uncompressed = true
	opts.Info = fetch.Header{{Name: "hostname", Value: "crawler.example"},
		{Name: "operator", Value: "A Person <a@crawler.example>"}, {Name: "robots", Value: "obey"}}
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
		t.Errorf("%s differs at byte %d:\ngot  %q\nwant %q", name, at, excerpt(got, at), excerpt(want, at))
	}
}

// excerpt returns the bytes near offset at.
func excerpt(b []byte, at int) []byte { return b[max(0, at-40):min(len(b), at+80)] }

// TestMembers verifies that each record is a gzip member at the returned place
// and has the bytes of the uncompressed file.
func TestMembers(t *testing.T) {
	dir := testFolder(t)
	w := testWriter(t, dir, testOptions())
	positions := writeSample(t, w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := dir.ReadFile(positions[0].File)
	if err != nil {
		t.Fatal(err)
	}
	end := positions[0].Offset
	for _, p := range positions {
		if p.Offset != end {
			t.Errorf("record starts at %d, but the previous one ends at %d", p.Offset, end)
		}
		end = p.End()
		z, err := gzip.NewReader(bytes.NewReader(file[p.Offset:end]))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil || !strings.HasPrefix(string(text), "WARC/1.1\r\n") || !bytes.Contains(text, []byte("<"+p.ID+">")) ||
			!bytes.HasSuffix(text, []byte("\r\n\r\n")) {
			t.Errorf("member at %d: error %v, text %.80q", p.Offset, err, text)
		}
	}
	if end != int64(len(file)) {
		t.Errorf("last record ends at %d of %d", end, len(file))
	}
}

func TestRejectedRecords(t *testing.T) {
	c := at("http://h.example/", 0)
	one := func(change func(r *Record)) *Record {
		r := c.Resource("text/plain", text("x"))
		change(r)
		return r
	}
	for name, r := range map[string]*Record{
		"line break in the media type": c.Resource("text/plain\r\nWARC-Type: x", text("x")),
		"NUL in the record ID":         one(func(r *Record) { r.ID = "urn:x\x00" }),
		"line break in a protocol":     one(func(r *Record) { r.Protocols = []string{"h2", "a\nb"} }),
		"colon in a field name": one(func(r *Record) {
			r.Fields = fetch.Header{{Name: "a:b",
				Value: "c"}}
		}),
		"field without a name": one(func(r *Record) { r.Fields = fetch.Header{{Value: "c"}} }),
		"line break in a field": one(func(r *Record) {
			r.Fields = fetch.Header{{Name: "a",
				Value: "b\rc"}}
		}),
		"length in a field":         one(func(r *Record) { r.Fields = fetch.Header{{Name: "content-length", Value: "3"}} }),
		"type in a field":           one(func(r *Record) { r.Fields = fetch.Header{{Name: "WARC-Type", Value: "request"}} }),
		"segment in a field":        one(func(r *Record) { r.Fields = fetch.Header{{Name: "WARC-Segment-Number", Value: "2"}} }),
		"year of five digits":       one(func(r *Record) { r.Date = time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC) }),
		"year before 0":             one(func(r *Record) { r.Date = time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC) }),
		"year in a reference":       one(func(r *Record) { r.RefersTo.Date = time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC) }),
		"relative URL":              one(func(r *Record) { r.URL = uri.MustParse("a/b") }),
		"no URL":                    Capture{}.Resource("", text("x")),
		"continuation":              one(func(r *Record) { r.Type = Continuation }),
		"warcinfo":                  one(func(r *Record) { r.Type = Info }),
		"no type":                   one(func(r *Record) { r.Type = "" }),
		"revisit without a digest":  c.Revisit(Reference{}, "", nil),
		"revisit without a profile": one(func(r *Record) { r.Type = Revisit }),
		"body that can be read once, without digests": c.Resource("", io.MultiReader(text("x"))),
	} {
		t.Run(name, func(t *testing.T) {
			dir := testFolder(t)
			w := testWriter(t, dir, testOptions())
			if _, err := w.Write(c.Resource("", text("first")), r); !errors.Is(err, fetch.Usage) {
				t.Errorf("got error %v", err)
			}
			if files := names(t, dir); len(files) != 0 {
				t.Errorf("got files %q", files)
			}
		})
	}
	for _, opts := range []Options{{Prefix: "a/b"}, {Prefix: ".."}, {Worker: "a b"},
		{Info: fetch.Header{{Name: "a", Value: "b\nc"}}}} {
		if _, err := NewWriter(testFolder(t), opts); !errors.Is(err, fetch.Usage) {
			t.Errorf("%+v: got error %v", opts, err)
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

// TestReadOnce writes blocks that can be read only once. If the block does not
// match its digest or size, the group must be removed.
func TestReadOnce(t *testing.T) {
	const block = "the entire block"
	d := newDigester(SHA256, Resource)
	io.WriteString(d, block)
	for name, tc := range map[string]struct {
		body  string
		fault error
	}{
		"matching digest": {block, nil},
		"short block":     {block[1:], fetch.Truncated},
		"different block": {"The entire block", fetch.Mismatch},
		"long block":      {block + "?", nil}, // Size limits the block
	} {
		t.Run(name, func(t *testing.T) {
			dir := testFolder(t)
			w := testWriter(t, dir, testOptions())
			before := mustWrite(t, w, at("file:///a", 0).Resource("", text("a")))[0]
			r := at("file:///b", 0).Resource("", io.MultiReader(text(tc.body)))
			r.Size, r.BlockDigest, r.PayloadDigest = d.Size(), d.Block(), d.Payload()
			if _, err := w.Write(r); !errors.Is(err, tc.fault) {
				t.Fatalf("got error %v", err)
			}
			after := mustWrite(t, w, at("file:///c", 0).Resource("", text("c")))[0]
			if tc.fault != nil && after.Offset != before.End() {
				t.Errorf("the next record is at %d, want %d", after.Offset, before.End())
			}
			w.Close()
			for f, err := range Verify(dir.Name() + "/" + after.File) {
				t.Error(f, err)
			}
		})
	}
}

// TestInterim verifies that interim responses are omitted from a response
// record.
func TestInterim(t *testing.T) {
	const interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
	dir := testFolder(t)
	w := testWriter(t, dir, testOptions())
	body := strings.NewReader("?" + interim + plainAnswer)
	body.ReadByte() // the block starts at the current position
	p := mustWrite(t, w, at("http://h.example/", 0).Response(body))[0]
	if want := SHA1.sum(plainAnswer); p.BlockDigest != want || p.PayloadDigest != helloSum {
		t.Errorf("got digests %s, %s", p.BlockDigest, p.PayloadDigest)
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
		t.Errorf("got block %q, %v", block, err)
	}
	head, err := readHead(strings.NewReader(interim + plainAnswer))
	if want := strings.TrimSuffix(plainAnswer, "hello"); string(head) != want || err != nil {
		t.Errorf("got header %q, %v", head, err)
	}
}

// TestTargetURI verifies that a target URI has no password and no fragment.
func TestTargetURI(t *testing.T) {
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
