package warc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

func fuzzFiles(f *testing.F) {
	f.Helper()
	for _, opts := range []Options{{}, {Uncompressed: true}} {
		file, err := os.ReadFile(sample(f,
			Options{Uncompressed: opts.Uncompressed, Worker: "w", Now: testOptions().Now, newID: testOptions().newID}))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file)
		f.Add(file[:len(file)/2])
	}
	f.Add(members(res(1, "\nContent-Length: 4"), res(2, "")+res(3, ""), strings.TrimSuffix(res(4, ""), "\r\n\r\n"),
		res(5, "\nContent-Length: 99")))
	f.Add([]byte(res(1, "") + "\r\n\r\n" + res(2, "") + "garbage\n" + res(3, "")))
	f.Add(encodeZstd(f, zstdRecords(3)))
	f.Add(append(skippable(0x50, []byte("x")), encodeZstd(f, zstdRecords(2))...))
	f.Add(skippable(0x5d, []byte(dictionaryMagic+"12345678")))
	f.Add(sampleARC(f))
	f.Add([]byte(arcVersion2))
	f.Add(members(strings.SplitAfter(arcVersion2, "A 1\n")...))
	f.Add([]byte("WARC/0.17\nWARC-Type: resource\n folded\nContent-Length: 1\n\nx\n\n"))
}

// FuzzReader verifies that reading ends, that offsets increase, and that
// NewReaderAt and small reads return the same records.
func FuzzReader(f *testing.F) {
	fuzzFiles(f)
	f.Fuzz(func(t *testing.T, file []byte) {
		last, records := int64(-1), 0
		r := NewReader(bytes.NewReader(file))
		for n := 0; ; n++ {
			h, err := r.Next()
			if err == io.EOF {
				break
			}
			if n > len(file) {
				t.Fatal("the records do not end")
			}
			var damage *Error
			if err != nil {
				if !errors.As(err, &damage) || damage.Offset > int64(len(file)) {
					t.Fatalf("got error %v", err)
				}
				continue
			}
			records++
			if h.Offset < last || h.Offset == last && !h.sameMember {
				t.Fatalf("record at %d follows a record at %d", h.Offset, last)
			}
			last = h.Offset
			if !h.sameMember {
				again, err := NewReaderAt(bytes.NewReader(file), h.Offset).Next()
				if err != nil || again.Length != h.Length || len(again.Fields) != len(h.Fields) || again.Offset != h.Offset {
					t.Fatalf("at %d: %+v, %v; want %+v", h.Offset, again, err, h)
				}
			}
			if length, err := r.Finish(); err == nil && (length <= 0 || h.Offset+length > int64(len(file))) {
				t.Fatalf("record at %d has %d of %d bytes", h.Offset, length, len(file))
			}
		}
		var v verifier
		defer v.close()
		for _, err := range v.file("f", bytes.NewReader(file)) {
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, err := range v.references() {
			if err != nil {
				t.Fatal(err)
			}
		}
		for l, err := range Lines("f", bytes.NewReader(file)) {
			if err == nil {
				if back, err := ParseLine(l.String()); err != nil || back.Offset != l.Offset {
					t.Fatalf("invalid line %s: %v", l, err)
				}
			}
		}
	})
}

// FuzzHeader verifies that header fields contain no line breaks and do not
// depend on the kind of line break.
func FuzzHeader(f *testing.F) {
	f.Add("WARC-Type: resource\r\nWARC-Target-URI: <http://h/>\r\nX: a\r\n b\r\n:\r\nno field\r\n")
	f.Fuzz(func(t *testing.T, head string) {
		fields := parseFields(head)
		for _, field := range fields {
			if strings.ContainsAny(field.Name+field.Value, "\n") || field.Name == "" {
				t.Fatalf("line break in field %q", field)
			}
		}
		crlf := strings.ReplaceAll(strings.ReplaceAll(head, "\r\n", "\n"), "\n", "\r\n")
		if other := parseFields(crlf); len(other) != len(fields) {
			t.Fatalf("got %q with CRLF and %q with LF", fields, other)
		}
		h := Header{Fields: fields}
		h.Type()
		h.Target()
		if d := h.Date(); !d.IsZero() && d.Year() > 0 && !parseDate(formatDate(d)).Equal(d) {
			t.Fatalf("invalid date %v", d)
		}
		status, _ := parseHead([]byte(head))
		_ = status
	})
}

// FuzzKey verifies that a key contains no spaces, and that Key returns the key
// of another scheme unchanged.
func FuzzKey(f *testing.F) {
	file, _ := os.ReadFile("testdata/surt.txt")
	for line := range strings.Lines(string(file)) {
		url, _, _ := strings.Cut(line, "\t")
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		key := Key(url)
		if !strings.HasPrefix(url, "http:") && !strings.HasPrefix(url, "https:") && key != url {
			t.Fatalf("%q has key %q", url, key)
		}
		if l, err := ParseLine(Line{Key: escape(key, " "), Timestamp: "1", URL: url}.String()); err != nil {
			t.Fatalf("%q, %v", l, err)
		}
	})
}

// FuzzRecord verifies that a record is rejected or can be read back unchanged,
// followed by the end of the file.
func FuzzRecord(f *testing.F) {
	f.Add("urn:x:1", "text/plain", "X-Y", "z", []byte("block"))
	f.Add("", "a\r\n\r\nWARC/1.1", "", "", []byte("\r\n\r\nWARC/1.1\r\n"))
	f.Fuzz(func(t *testing.T, id, media, name, value string, block []byte) {
		r := at("gopher://h.example/", 0).Resource(media, bytes.NewReader(block))
		r.ID, r.Fields = id, fetch.Header{{Name: name, Value: value}}
		if r.validate() != nil {
			return
		}
		if _, err := r.setDigests(SHA256, nil); err != nil {
			t.Fatal(err)
		}
		file := append(append(r.appendHead(nil, "urn:x:0", nil), block...), "\r\n\r\n"...)
		in := NewReader(bytes.NewReader(file))
		h, err := in.Next()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(in)
		if err != nil || !bytes.Equal(got, block) || h.Target() != "gopher://h.example/" {
			t.Fatalf("%q became %q, %v", file, got, err)
		}
		if _, err := in.Next(); err != io.EOF {
			t.Fatalf("the file has another record: %v in %q", err, file)
		}
	})
}

// FuzzLine verifies that a parsed index line is formatted and parsed again
// unchanged.
func FuzzLine(f *testing.F) {
	f.Add(`org,example)/ 20261121083000 {"url":"http://example.org/","mime":"text/html","status":"200","digest":"A","length":"1","offset":"2","filename":"a.warc.gz"}`)
	f.Add(`k 1 {"status":200,"offset":3,"x":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseLine(text)
		if err != nil {
			return
		}
		if again, err := ParseLine(l.String()); err != nil || again != l {
			t.Fatalf("%+v became %+v, %v", l, again, err)
		}
	})
}

// FuzzSimpleLine verifies that the simple parser of index lines has the results
// of package json.
func FuzzSimpleLine(f *testing.F) {
	f.Add(`{"url":"http://example.org/","mime":"text/html","status":"200","digest":"A","length":"1","offset":"2","filename":"a"}`)
	f.Add(`{"url": "u", "recordDigest": "x", "URL": "v"}`)
	f.Add(`{"url":"a","url":"b"}`)
	f.Add(`{"url":"\u0061"}`)
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := parseSimple(text)
		var want lineValues
		if err := json.Unmarshal([]byte(text), &want); ok && (err != nil || got != want) {
			t.Fatalf("%q: got %+v, want %+v, %v", text, got, want, err)
		}
	})
}
