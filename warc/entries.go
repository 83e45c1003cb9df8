package warc

import (
	"errors"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/internal/wire/http1"
)

// IsFileName reports whether name has the extension of a WARC file (".warc",
// ".warc.gz" or ".warc.zst") or of an ARC file (".arc" or ".arc.gz"). The name
// of a WARC file can be followed by [OpenSuffix].
func IsFileName(name string) bool {
	if isPackable(strings.TrimSuffix(name, OpenSuffix)) {
		return true
	}
	return strings.HasSuffix(strings.TrimSuffix(name, OpenSuffix), ".warc.zst") || strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".arc")
}

// isPackable reports whether a WACZ file can contain a file with this name.
func isPackable(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".warc")
}

// Entries returns an entry for each captured object in the WARC file r. Revisit
// records also have an entry. The entries have the order of the records. The
// field Time is the date of the capture. The field Size is the size of the
// payload, or -1 if the record header does not contain the size. The field Extra
// has the keys type, id, offset, digest, truncated and, for HTTP, status.
// Requests, failures and records that describe other records have no entry. After
// an [*Error], the sequence continues with the next readable record, unless the
// file is truncated. Any other error ends the sequence.
func Entries(r io.Reader) iter.Seq2[fetch.Entry, error] {
	return func(yield func(fetch.Entry, error) bool) {
		in := NewReader(r)
		for {
			h, err := in.Next()
			if err == io.EOF {
				return
			}
			var e fetch.Entry
			if err == nil && h.isCapture() {
				e, err = in.entry(h)
			}
			if e.Extra != nil && !yield(e, nil) || err != nil && !yield(fetch.Entry{}, err) {
				return
			}
			var damage *Error
			if err != nil && (!errors.As(err, &damage) || damage.Truncated) {
				return
			}
		}
	}
}

// entry reads the current record and returns its entry. If the record is
// damaged, the entry is zero. If only the bytes after the block are damaged,
// entry returns the entry and the error.
func (r *Reader) entry(h *Header) (fetch.Entry, error) {
	e := fetch.Entry{
		Name: h.Target(), Media: h.Get("Content-Type"), Size: h.Length,
		Time: h.Date(), Kind: fetch.Document, Extra: map[string]string{},
	}
	for name, value := range map[string]string{
		"type": string(h.Type()), "id": h.ID(), "offset": strconv.FormatInt(h.Offset, 10),
		"digest": h.Get("WARC-Payload-Digest"), "truncated": h.Get("WARC-Truncated"),
	} {
		if value != "" {
			e.Extra[name] = value
		}
	}
	if u, err := parseURL(h.Target()); err == nil {
		e.URL = u
	}
	if isHTTP(e.Media) {
		m := http1.NewReader(r, 4<<10)
		head, err := m.ReadHead()
		if err != nil {
			return fetch.Entry{}, err
		}
		status, fields := parseHead(head)
		e.Media, e.Extra["status"] = fields.Get("Content-Type"), strconv.Itoa(status)
		if e.Size = h.Length - int64(len(head)); !m.Verbatim() {
			e.Size = -1
		}
	}
	if h.Type() == Revisit {
		e.Size = -1
	}
	if kind := entries.KindOf(e.Media); kind != fetch.Document {
		e.Kind, e.Media = kind, entries.UnmarkedMedia(e.Media)
	}
	if _, err := io.Copy(io.Discard, r); err != nil {
		return fetch.Entry{}, err
	}
	compressed := r.src.compressed
	_, err := r.Finish()
	if err != nil && compressed {
		return fetch.Entry{}, err
	}
	return e, err
}
