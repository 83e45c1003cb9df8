package warc

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/internal/format/linesort"
)

// Verify reads all bytes of WARC and WACZ files and returns the problems found.
// It checks each record against WARC 1.1 and verifies its digests. It then
// checks the references between all records. If there are no findings, all
// blocks and payloads match their digests. A Finding with Note describes a file
// that is not damaged. A record that was written as truncated is no finding, because
// its bytes match its digests. A file system error ends the sequence.
func Verify(paths ...string) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		var v verifier
		defer v.close()
		for _, path := range paths {
			for finding, err := range v.path(path) {
				if !yield(finding, err) || err != nil {
					return
				}
			}
		}
		v.references()(yield)
	}
}

// VerifyReaders is like Verify, but reads WARC files from readers. The keys of
// files are the names of the WARC files. VerifyReaders uses a reader only until
// it requests the next one from files. If a reader is an io.Seeker,
// VerifyReaders continues after damage.
func VerifyReaders(files iter.Seq2[string, io.Reader]) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		var v verifier
		defer v.close()
		for name, r := range files {
			for finding, err := range v.file(name, r) {
				if !yield(finding, err) || err != nil {
					return
				}
			}
		}
		v.references()(yield)
	}
}

func (v *verifier) path(path string) iter.Seq2[Finding, error] {
	if strings.HasSuffix(path, ".wacz") {
		return v.wacz(path)
	}
	return func(yield func(Finding, error) bool) {
		f, err := regularfile.Open(path)
		if err != nil {
			yield(Finding{}, fetch.LocalError(err))
			return
		}
		defer f.Close()
		v.file(path, f)(yield)
	}
}

// A verifier verifies an archive that consists of several files. The caller
// calls file or wacz for each file, then references, and finally close. The
// zero value is ready to use. Memory use is constant.
type verifier struct {
	refs   linesort.Sorter
	buffer []byte
}

// close removes temporary files.
func (v *verifier) close() error { return fetch.LocalError(v.refs.Close()) }

// file verifies the records of one WARC file. If r is an io.Seeker, file
// continues after damage.
func (v *verifier) file(name string, r io.Reader) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		in := newAheadReader(NewReader(r))
		defer in.close()
		if v.buffer == nil {
			v.buffer = make([]byte, bufferSize)
		}
		var only *Header // the header of the first record, until another one follows
		for n := 0; ; n++ {
			c := &recordCheck{name: name}
			h, _, err := c.checkNext(in, v.buffer)
			if err == io.EOF && n == 0 {
				c.add(TruncatedFile, "the file contains no records")
			}
			switch {
			case err == io.EOF && only != nil:
				err = cmp.Or(v.addReferences(name, only, refOptional), err)
			case n == 0 && err == nil:
				only = h
			case err == nil:
				err = v.addBoth(name, only, h)
				only = nil
			}
			for _, f := range c.findings {
				if !yield(f, nil) {
					return
				}
			}
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(Finding{}, fetch.LocalError(fmt.Errorf("%s: %w", name, err)))
				return
			}
		}
	}
}

// addBoth stores the references of the records with the given headers, which may
// be nil.
func (v *verifier) addBoth(name string, headers ...*Header) error {
	for _, h := range headers {
		if h == nil {
			continue
		}
		if err := v.addReferences(name, h, refRequired); err != nil {
			return err
		}
	}
	return nil
}

// A recordCheck collects the findings of one record.
type recordCheck struct {
	name     string
	offset   int64
	id       string
	findings []Finding
}

// checkNext reads the next record, and returns its header and its length in the
// file. If the header is unreadable, h is nil. If the record is damaged, the
// length is 0. At the end of the file, the error is io.EOF. Any other error is
// an error of the file system.
func (c *recordCheck) checkNext(in recordReader, buffer []byte) (h *Header, length int64, err error) {
	h, err = in.Next()
	if err == io.EOF {
		return nil, 0, err
	}
	if err == nil {
		c.offset, c.id = h.Offset, h.ID()
		c.checkHead(h)
		length, err = c.checkBlock(in, h, buffer)
	}
	if err = c.addError(err); err != nil {
		return nil, 0, err
	}
	for _, f := range c.findings {
		if !f.Note && f.Problem.IsDamage() {
			length = 0
		}
	}
	return h, length, nil
}

func (c *recordCheck) add(problem Problem, format string, args ...any) *Finding {
	text := fmt.Sprintf(format, args...)
	c.findings = append(c.findings, Finding{File: c.name, Offset: c.offset, ID: c.id, Problem: problem, Text: text})
	return &c.findings[len(c.findings)-1]
}

// addError adds a finding if err is an *Error. It returns any other error.
func (c *recordCheck) addError(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	if c.id == "" {
		c.offset = e.Offset
	}
	problem := BadGzip
	switch {
	case e.Truncated:
		problem = TruncatedFile
	case errors.Is(err, errNoMember), errors.Is(err, errNoRecord):
		problem = Garbage
	case errors.Is(err, errNoLength):
		problem = MissingField
	case errors.Is(err, errShortBlock), errors.Is(err, errStray):
		problem = BadLength
	}
	c.add(problem, "%v", e.Err)
	return nil
}

// mandatory lists the header fields that every WARC record must have, in
// addition to Content-Length (WARC 1.1 section 5.1).
var mandatory = [...]string{"WARC-Type", "WARC-Record-ID", "WARC-Date"}

// repeatable lists the header fields that may occur more than once in a record.
var repeatable = [...]string{"warc-concurrent-to", "warc-protocol"}

func (c *recordCheck) checkHead(h *Header) {
	for _, name := range mandatory {
		if h.Get(name) == "" && !(h.arc && name == "WARC-Record-ID") {
			c.add(MissingField, "missing field %s", name)
		}
	}
	switch t := h.Type(); t {
	case Response, Resource, Request, Revisit, Conversion, Continuation:
		if h.Target() == "" {
			c.add(MissingField, "%s record without WARC-Target-URI", t)
		}
	case Info, Metadata, "":
	default:
		c.add(BadField, "unknown record type %q", t).Note = true
	}
	if h.Type() == Revisit && h.Get("WARC-Profile") == "" {
		c.add(MissingField, "revisit record without WARC-Profile")
	}
	if strings.HasSuffix(h.Get("WARC-Profile"), "/identical-payload-digest") && h.Get("WARC-Payload-Digest") == "" {
		c.add(MissingField, "revisit record without WARC-Payload-Digest")
	}
	if date := h.Get("WARC-Date"); date != "" && h.Date().IsZero() {
		c.add(BadField, "invalid WARC-Date %q", date)
	}
	if id := h.Get("WARC-Record-ID"); id != "" && !strings.Contains(h.ID(), ":") {
		c.add(BadField, "WARC-Record-ID %q is not a URI", id)
	}
	c.checkRepeated(h.Fields)
}

func (c *recordCheck) checkRepeated(fields fetch.Header) {
	seen := map[string]bool{}
	for _, f := range fields {
		name := strings.ToLower(f.Name)
		standard := strings.HasPrefix(name, "warc-") || strings.HasPrefix(name, "content-")
		if seen[name] && standard && !slices.Contains(repeatable[:], name) {
			c.add(BadField, "duplicate field %q", f.Name)
		}
		seen[name] = true
	}
}

// checkBlock reads the block of a record and verifies its block digest and
// payload digest. It returns the length of the record in the file.
func (c *recordCheck) checkBlock(in recordReader, h *Header, buffer []byte) (length int64, err error) {
	block := c.newDigester(h, "WARC-Block-Digest")
	payload := c.newDigester(h, "WARC-Payload-Digest")
	if h.Type() == Revisit || h.Get("WARC-Segment-Number") != "" {
		payload = nil // the digest belongs to the original record or to all segments
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
		return 0, err
	}
	if length, err = in.Finish(); err != nil {
		return 0, err
	}
	if stray, missingEnd := in.ending(); stray > 0 {
		c.add(BadLength, "%d bytes after the block belong to no record", stray)
	} else if missingEnd {
		c.add(BadEnd, "record does not end with two line breaks")
	}
	if block != nil {
		c.checkBlockDigest(h, block)
	}
	if payload != nil {
		c.checkPayload(h.Get("WARC-Payload-Digest"), payload)
	}
	return length, nil
}

// newDigester returns a digester with the algorithm of the digest in the header
// field. It returns nil if the field is missing or its algorithm is not
// supported.
func (c *recordCheck) newDigester(h *Header, field string) *digester {
	want := h.Get(field)
	if want == "" {
		return nil
	}
	name, _, ok := splitDigest(want)
	if !ok {
		c.add(BadField, "%s: unsupported or invalid digest %q", field, want).Note = name != "sha1" && name != "sha256"
		return nil
	}
	t := Resource
	if isHTTP(h.Get("Content-Type")) {
		t = Response
	}
	a := algorithmOf(name + ":")
	d := newDigester(a, t)
	if t == Response {
		d.raw = a.hash()
	}
	return d
}

// checkBlockDigest verifies the block digest. GNU wget writes the digest of an
// empty block to each revisit record, although the block has an HTTP header. The
// finding is then a note.
func (c *recordCheck) checkBlockDigest(h *Header, d *digester) {
	want, got := h.Get("WARC-Block-Digest"), d.Block()
	if same, _ := sameDigest(want, got); same {
		return
	}
	if empty, _ := sameDigest(want, d.algorithm.label(d.algorithm.hash())); empty && h.Type() == Revisit {
		c.add(BadBlockDigest, "digest was computed over an empty block").Note = true
		return
	}
	c.add(BadBlockDigest, "computed digest %s, but the record has %q", got, want)
}

// checkPayload verifies the payload digest. Some tools compute the digest over
// the HTTP body before the transfer coding is removed. If only this digest
// matches, the finding is a note.
func (c *recordCheck) checkPayload(want string, d *digester) {
	got := d.Payload()
	if same, _ := sameDigest(want, got); same {
		return
	}
	if d.raw != nil {
		if same, _ := sameDigest(want, d.rawPayload()); same {
			c.add(BadPayloadDigest, "digest was computed over the body with its transfer coding").Note = true
			return
		}
	}
	if got == "" {
		c.add(BadPayloadDigest, "digest %q was not verified, because the HTTP message is invalid", want).Note = true
		return
	}
	c.add(BadPayloadDigest, "computed digest %s, but the record has %q", got, want)
}
