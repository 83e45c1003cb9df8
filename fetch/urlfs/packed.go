package urlfs

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A listing contains the encoded entries of a directory, which need little memory. An
// entry is decoded each time that it is used.
type listing struct {
	fsys   *FS
	base   string        // URL of the listing, with which most URLs of entries begin
	sample fetch.Entry   // an entry of the listing, which has the listing as its source
	whole  []fetch.Entry // entries that are not encoded

	chunk   *strings.Builder // contains encoded entries, and never grows
	scratch []byte           // the entry that is being encoded
}

// These are the sizes of the first and of the largest chunk, in bytes.
const (
	minChunk = 1 << 10
	maxChunk = 64 << 10
)

// These are the forms of a packed entry, which are its first byte.
const (
	formEncoded = iota
	formWhole   // the position in listing.whole follows
)

// pack encodes an entry. It reports whether the entry is stored whole.
func (l *listing) pack(e fetch.Entry) (packed string, whole bool) {
	if l.chunk == nil {
		l.sample = e
	}
	url := e.URL.Unredacted()
	if again, err := uri.Parse(url); err != nil || again != e.URL {
		l.whole = append(l.whole, e)
		return l.store(binary.AppendUvarint([]byte{formWhole}, uint64(len(l.whole)-1))), true
	}
	same := commonPrefix(l.base, url)
	b := appendText(append(l.scratch[:0], formEncoded), e.Name)
	b = appendText(binary.AppendUvarint(b, uint64(same)), url[same:])
	b = binary.AppendVarint(append(b, byte(e.Kind)), e.Size)
	b = appendTime(appendText(appendText(b, e.Media), e.Raw), e.Time)
	b = binary.AppendUvarint(b, uint64(len(e.Extra)))
	for _, key := range slices.Sorted(maps.Keys(e.Extra)) {
		b = appendText(appendText(b, key), e.Extra[key])
	}
	l.scratch = b
	return l.store(b), false
}

// store appends b to a chunk and returns its copy.
func (l *listing) store(b []byte) string {
	if l.chunk == nil || l.chunk.Cap()-l.chunk.Len() < len(b) {
		size := minChunk
		if l.chunk != nil {
			size = min(2*l.chunk.Cap(), maxChunk)
		}
		l.chunk = new(strings.Builder)
		l.chunk.Grow(max(size, len(b)))
	}
	start := l.chunk.Len()
	l.chunk.Write(b)
	return l.chunk.String()[start:]
}

// nameOf returns the field Name of an encoded entry, without a copy.
func nameOf(packed string) string {
	d := unpacker{packed[1:]}
	return d.text()
}

// unpack returns a packed entry.
func (l *listing) unpack(packed string) fetch.Entry {
	d := unpacker{packed[1:]}
	if packed[0] == formWhole {
		return l.whole[d.uvarint()]
	}
	e := l.sample
	e.Name = d.text()
	same := d.uvarint()
	e.URL, _ = uri.Parse(l.base[:same] + d.text()) // pack has checked this
	e.Kind, d.rest = fetch.Kind(d.rest[0]), d.rest[1:]
	e.Size = d.varint()
	e.Media, e.Raw, e.Time, e.Extra = d.text(), d.text(), d.time(), nil
	if n := d.uvarint(); n > 0 {
		e.Extra = make(map[string]string, n)
		for range n {
			key := d.text()
			e.Extra[key] = d.text()
		}
	}
	return e
}

// commonPrefix returns the length of the prefix that a and b have in common.
func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// appendTime appends a time with its zone.
func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, 0)
	}
	text, err := t.MarshalBinary()
	if err != nil { // the offset of the zone has no encoding
		text, _ = t.UTC().MarshalBinary()
	}
	return appendText(b, string(text))
}

// An unpacker decodes what listing.pack has encoded.
type unpacker struct{ rest string }

func (d *unpacker) text() string {
	n := d.uvarint()
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

func (d *unpacker) time() (t time.Time) {
	if s := d.text(); s != "" {
		t.UnmarshalBinary([]byte(s))
	}
	return t
}

func (d *unpacker) uvarint() uint64 {
	v, n := binary.Uvarint([]byte(d.rest[:min(len(d.rest), binary.MaxVarintLen64)]))
	d.rest = d.rest[n:]
	return v
}

func (d *unpacker) varint() int64 {
	v, n := binary.Varint([]byte(d.rest[:min(len(d.rest), binary.MaxVarintLen64)]))
	d.rest = d.rest[n:]
	return v
}
