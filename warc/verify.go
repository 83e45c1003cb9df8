package warc

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/regularfile"
)

// What is wrong with a record.
type What uint8

const (
	Torn          What = iota + 1 // the file ends inside of a record
	BadGzip                       // a member does not decompress, or to other bytes than were packed
	Garbage                       // bytes that belong to no record
	BadLength                     // the block is shorter or longer than Content-Length
	BadEnd                        // no two line ends behind the block
	BlockDigest                   // the block is not the one that was digested
	PayloadDigest                 // nor the payload
	Missing                       // a field that the record must have
	BadField                      // a field that says what it cannot, or twice
	Duplicate                     // an identifier that another record has
	Dangling                      // a record that no record is
	BadPart                       // of a WACZ file: not what was packed
)

var whats = [...]string{
	Torn: "torn", BadGzip: "bad-gzip", Garbage: "garbage", BadLength: "bad-length", BadEnd: "bad-end",
	BlockDigest: "block-digest", PayloadDigest: "payload-digest", Missing: "missing-field", BadField: "bad-field",
	Duplicate: "duplicate-id", Dangling: "dangling", BadPart: "bad-part",
}

// String is the name of w in records.
func (w What) String() string { return whats[min(int(w), len(whats)-1)] }

// MarshalText is String.
func (w What) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// A Finding is something wrong at one place of an archive.
type Finding struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"` // of the record or, where none begins, behind the last one
	ID     string `json:"id,omitempty"`
	What   What   `json:"what"`
	Note   bool   `json:"note,omitempty"` // strange, but no damage
	Text   string `json:"text"`
}

// String is the finding on one line; what it quotes of the archive is quoted.
func (f Finding) String() string {
	kind := ""
	if f.Note {
		kind = "note: "
	}
	return fmt.Sprintf("%s:%d: %s%s: %s", f.File, f.Offset, kind, f.What, f.Text)
}

// Verify reads archives, and WACZ files of them, which are named by path, to
// their last byte and tells what is wrong with them: first what each record shows, then what the
// identifiers of all show together. Nothing found means that every block and
// payload is the one that was digested. The error, which ends the sequence, is
// of the file system.
func Verify(paths ...string) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		var v Verifier
		defer v.Close()
		for _, path := range paths {
			for found, err := range v.named(path) {
				if !yield(found, err) || err != nil {
					return
				}
			}
		}
		v.References()(yield)
	}
}

func (v *Verifier) named(path string) iter.Seq2[Finding, error] {
	if strings.HasSuffix(path, ".wacz") {
		return v.Package(path)
	}
	return func(yield func(Finding, error) bool) {
		f, err := regularfile.Open(path)
		if err != nil {
			yield(Finding{}, local(err))
			return
		}
		defer f.Close()
		v.File(path, f)(yield)
	}
}

// A Verifier verifies an archive of several files: File or Package for each, and
// then References. The zero value is ready; the caller closes it. Its memory is flat.
type Verifier struct {
	refs   Sorter
	buffer []byte
}

// Close removes temporary files.
func (v *Verifier) Close() error { return v.refs.Close() }

// File verifies the records of one file. Where r is an io.Seeker, the records
// behind damage are verified too.
func (v *Verifier) File(name string, r io.Reader) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		in := NewReader(r)
		if v.buffer == nil {
			v.buffer = make([]byte, bufferSize)
		}
		for {
			h, err := in.Next()
			if err == io.EOF {
				return
			}
			c := &check{name: name}
			if err == nil {
				c.offset, c.id = h.Offset, h.ID()
				c.head(h)
				if err = v.note(name, h); err == nil {
					err = c.block(in, h, v.buffer)
				}
			}
			if err = c.failed(err); err != nil {
				yield(Finding{}, err)
				return
			}
			for _, f := range c.found {
				if !yield(f, nil) {
					return
				}
			}
		}
	}
}

// check gathers what is wrong with one record.
type check struct {
	name   string
	offset int64
	id     string
	found  []Finding
}

func (c *check) add(w What, format string, args ...any) *Finding {
	c.found = append(c.found, Finding{File: c.name, Offset: c.offset, ID: c.id, What: w, Text: fmt.Sprintf(format, args...)})
	return &c.found[len(c.found)-1]
}

// failed makes a finding of an Error and returns any other error.
func (c *check) failed(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	if c.id == "" {
		c.offset = e.Offset
	}
	w := BadGzip
	switch {
	case e.Torn:
		w = Torn
	case errors.Is(err, errNoMember), errors.Is(err, errNoRecord):
		w = Garbage
	case errors.Is(err, errNoLength):
		w = Missing
	case errors.Is(err, errShortBlock), errors.Is(err, errStray):
		w = BadLength
	}
	c.add(w, "%v", e.Err)
	return nil
}

// mandatory are the fields that each record must have, beside Content-Length
// (WARC 1.1 section 5.1); by type, those that its section asks for.
var mandatory = [...]string{"WARC-Type", "WARC-Record-ID", "WARC-Date"}

// repeated may stand in a record more than once.
var repeated = [...]string{"warc-concurrent-to", "warc-protocol"}

func (c *check) head(h *Header) {
	for _, name := range mandatory {
		if h.Get(name) == "" {
			c.add(Missing, "no %s", name)
		}
	}
	switch t := h.Type(); t {
	case Response, Resource, Request, Revisit, Conversion, Continuation:
		if h.Target() == "" {
			c.add(Missing, "%s record without WARC-Target-URI", t)
		}
	case Info, Metadata, "":
	default:
		c.add(BadField, "unknown type %q", t).Note = true
	}
	if h.Type() == Revisit && h.Get("WARC-Profile") == "" {
		c.add(Missing, "revisit record without WARC-Profile")
	}
	if strings.HasSuffix(h.Get("WARC-Profile"), "/identical-payload-digest") && h.Get("WARC-Payload-Digest") == "" {
		c.add(Missing, "revisit record without WARC-Payload-Digest")
	}
	if date := h.Get("WARC-Date"); date != "" && h.Date().IsZero() {
		c.add(BadField, "WARC-Date: %q", date)
	}
	if id := h.Get("WARC-Record-ID"); id != "" && !strings.Contains(h.ID(), ":") {
		c.add(BadField, "WARC-Record-ID: %q is no URI", id)
	}
	c.twice(h.Fields)
}

func (c *check) twice(fields fetch.Header) {
	seen := map[string]bool{}
	for _, f := range fields {
		name := strings.ToLower(f.Name)
		if seen[name] && (strings.HasPrefix(name, "warc-") || strings.HasPrefix(name, "content-")) && name != repeated[0] && name != repeated[1] {
			c.add(BadField, "%q twice", f.Name)
		}
		seen[name] = true
	}
}

// block holds block and payload to their digests, and reads to the end of the
// record.
func (c *check) block(in *Reader, h *Header, buffer []byte) error {
	block := c.digester(h, "WARC-Block-Digest")
	payload := c.digester(h, "WARC-Payload-Digest")
	if h.Type() == Revisit || h.Get("WARC-Segment-Number") != "" {
		payload = nil // of another record; of all segments
	}
	var to []io.Writer
	if block != nil {
		to = append(to, block)
	}
	if payload != nil && block != nil && block.algorithm == payload.algorithm {
		block.message, block.payload, block.raw = payload.message, payload.payload, payload.raw
		payload = block
	} else if payload != nil {
		to = append(to, payload)
	}
	if _, err := io.CopyBuffer(io.MultiWriter(to...), in, buffer); err != nil {
		return err
	}
	if _, err := in.Finish(); err != nil {
		return err
	}
	if in.stray > 0 {
		c.add(BadLength, "%d bytes behind the block, which belong to no record", in.stray)
	} else if in.bare {
		c.add(BadEnd, "record does not end in two line ends")
	}
	if block != nil {
		c.compare(BlockDigest, h.Get("WARC-Block-Digest"), block.Block())
	}
	if payload != nil {
		c.payload(h.Get("WARC-Payload-Digest"), payload)
	}
	return nil
}

// digester makes what checks a digest, nil where there is none that can be.
func (c *check) digester(h *Header, field string) *Digester {
	want := h.Get(field)
	if want == "" {
		return nil
	}
	name, _, ok := splitDigest(want)
	if !ok {
		c.add(BadField, "%s: %q is no digest of sha1 or sha256", field, want).Note = name != "sha1" && name != "sha256"
		return nil
	}
	t := Resource
	if isHTTP(h.Get("Content-Type")) {
		t = Response
	}
	a := algorithmOf(name + ":")
	d := NewDigester(a, t)
	if t == Response {
		d.raw = a.hash()
	}
	return d
}

func (c *check) compare(w What, want, got string) {
	if same, _ := sameDigest(want, got); !same {
		c.add(w, "%s, not %q", got, want)
	}
}

// payload also knows the digest that several tools write for a chunked body:
// that of its bytes with the chunks' sizes between them.
func (c *check) payload(want string, d *Digester) {
	got := d.Payload()
	if same, _ := sameDigest(want, got); same {
		return
	}
	if d.raw != nil {
		if same, _ := sameDigest(want, d.algorithm.label(d.raw)); same {
			c.add(PayloadDigest, "digest is that of the body with its transfer coding").Note = true
			return
		}
	}
	if got == "" {
		c.add(PayloadDigest, "payload cannot be told from the block, %q was not checked", want).Note = true
		return
	}
	c.add(PayloadDigest, "%s, not %q", got, want)
}
