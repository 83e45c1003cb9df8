// Package metalink reads lists of mirrors: Metalink documents (RFC 5854, and the
// older version 3), and the header fields of Metalink/HTTP (RFC 6249).
package metalink

import (
	"bytes"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/verify"
)

const (
	MaxDocument = 16 << 20 // bytes of a document
	maxTags     = 500_000  // tags of a document, and attributes
	maxFiles    = 1000     // files of a document
	MaxMirrors  = 100      // mirrors of a file that are kept, those with the best priority
	maxURLs     = 16 << 20 // bytes of the resolved URLs of a document
	maxPieces   = 200_000  // pieces of a file

	// Pieces of other sizes are not verified one by one.
	minPiece = 16 << 10
	maxPiece = 8 << 20

	lastPriority = 999_999
)

// A File is a file with its mirrors.
type File struct {
	Name    string // base name; "" if the list does not name the file
	Size    int64  // in bytes, or -1 if unknown
	Mirrors []Mirror
	Digests []verify.Digest // the strongest digest is the first

	PieceSize int64           // in bytes, or 0 if there are no digests of pieces
	Pieces    []verify.Digest // of the pieces in order

	Signature string // armored signature of OpenPGP, or ""
}

// A Mirror is a URL of a file. A lower priority is better.
type Mirror struct {
	URL      uri.URI
	Priority int
}

// The elements of both versions of the format.
type document struct {
	Files  fileList `xml:"file"`
	Nested fileList `xml:"files>file"` // version 3
}

// A fileList has at most maxFiles files, because an empty element needs 200 bytes
// of memory.
type fileList []file

// errFiles is the error for a document with too many files.
var errFiles = fetch.TooLarge.Errorf("the Metalink document has more than %d files", maxFiles)

// UnmarshalXML adds a file to the list.
func (l *fileList) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	if len(*l) == maxFiles {
		return errFiles
	}
	var f file
	err := d.DecodeElement(&f, &start)
	*l = append(*l, f)
	return err
}

type file struct {
	Name      string     `xml:"name,attr"`
	Size      string     `xml:"size"`
	URLs      []location `xml:"url"`
	Nested    []location `xml:"resources>url"`
	Hashes    []hash     `xml:"hash"`
	Nested3   []hash     `xml:"verification>hash"`
	Pieces    []pieces   `xml:"pieces"`
	Pieces3   []pieces   `xml:"verification>pieces"`
	Signature []struct {
		Media string `xml:"mediatype,attr"`
		Text  string `xml:",chardata"`
	} `xml:"signature"`
}

type location struct {
	Priority   string `xml:"priority,attr"`
	Preference string `xml:"preference,attr"` // version 3: 100 is the best
	Text       string `xml:",chardata"`
}

type hash struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

type pieces struct {
	Length string `xml:"length,attr"`
	Type   string `xml:"type,attr"`
	Hashes []hash `xml:"hash"`
}

// IsDocument reports whether a response is a Metalink document, by its media type
// or its first bytes.
func IsDocument(media string, prefix []byte) bool {
	media, _, _ = strings.Cut(strings.ToLower(media), ";")
	switch strings.TrimSpace(media) {
	case "application/metalink4+xml", "application/metalink+xml":
		return true
	}
	return bytes.Contains(prefix[:min(len(prefix), 1024)], []byte("<metalink"))
}

// Parse reads a document. URLs are resolved against base. The error has the
// Fault fetch.Protocol for a malformed document, and fetch.TooLarge for a document
// that exceeds a limit. Files without a safe name or without mirrors are
// omitted.
func Parse(r io.Reader, base uri.URI) ([]File, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxDocument+1))
	if err != nil {
		return nil, err
	}
	quotes := bytes.Count(text, []byte(`"`)) + bytes.Count(text, []byte("'")) // two of each attribute
	if len(text) > MaxDocument || bytes.Count(text, []byte("<")) > maxTags || quotes > 2*maxTags {
		return nil, fetch.TooLarge.Errorf("the Metalink document is longer than %d bytes, or has more than %d tags or attributes", MaxDocument, maxTags)
	}
	var d document
	if err := xml.Unmarshal(text, &d); errors.Is(err, errFiles) {
		return nil, errFiles
	} else if err != nil {
		return nil, fetch.Protocol.Errorf("invalid Metalink document: %.200s", err) // err can quote a long token
	}
	all := append(d.Files, d.Nested...)
	if len(all) > maxFiles {
		return nil, errFiles
	}
	var files []File
	urls := resolver{base, maxURLs}
	for _, f := range all {
		out, ok, err := f.convert(&urls)
		if err != nil {
			return nil, err
		}
		if ok {
			files = append(files, out)
		}
	}
	if len(files) == 0 {
		return nil, fetch.Protocol.Errorf("the Metalink document names no file with a mirror")
	}
	return files, nil
}

// convert returns the File of an element. It returns false if the name is not
// safe or if there is no mirror.
func (f file) convert(r *resolver) (out File, ok bool, err error) {
	out.Name = f.Name[strings.LastIndexAny(f.Name, `/\`)+1:]
	if out.Name == "" || out.Name == "." || out.Name == ".." || strings.ContainsFunc(out.Name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return out, false, nil
	}
	out.Size = -1
	if n, err := strconv.ParseInt(strings.TrimSpace(f.Size), 10, 62); err == nil && n >= 0 {
		out.Size = n
	}
	if out.Mirrors, err = r.mirrors(append(f.URLs, f.Nested...)); err != nil {
		return out, false, err
	}
	for _, h := range append(f.Hashes, f.Nested3...) {
		if d, ok := h.digest(h.Type); ok {
			out.Digests = append(out.Digests, d)
		}
	}
	slices.SortStableFunc(out.Digests, func(a, b verify.Digest) int { return b.Strength() - a.Strength() })
	out.setPieces(append(f.Pieces, f.Pieces3...))
	for _, s := range f.Signature {
		if s.Media == "application/pgp-signature" && out.Signature == "" {
			out.Signature = strings.TrimSpace(s.Text)
		}
	}
	return out, len(out.Mirrors) > 0, nil
}

func (l location) priority() int {
	if n, err := strconv.Atoi(l.Priority); err == nil && n > 0 {
		return min(n, lastPriority)
	}
	if n, err := strconv.Atoi(l.Preference); err == nil && 0 <= n && n <= 100 {
		return 101 - n
	}
	return lastPriority
}

// A resolver resolves the URLs of a document or header. Short references to a long
// base would otherwise need a thousand times the memory of the document.
type resolver struct {
	base uri.URI
	left int // bytes that further URLs can have
}

// mirrors returns the mirrors with the best priority, without duplicates. It
// returns an error, and the mirrors so far, if the URLs are too long.
func (r *resolver) mirrors(all []location) (best []Mirror, err error) {
	slices.SortStableFunc(all, func(a, b location) int { return a.priority() - b.priority() })
	seen := map[string]bool{}
	for _, l := range all {
		if len(best) == MaxMirrors {
			break
		}
		u, err := uri.ParseReference(strings.TrimSpace(l.Text))
		if err == nil {
			u, err = r.base.Resolve(u)
		}
		if err != nil || u.Scheme() == "" {
			continue
		}
		text := u.Unredacted()
		if r.left -= len(text); r.left < 0 {
			return best, fetch.TooLarge.Errorf("the URLs of the mirrors are longer than %d bytes", maxURLs)
		}
		if !seen[text] {
			best = append(best, Mirror{u, l.priority()})
		}
		seen[text] = true
	}
	return best, nil
}

func (h hash) digest(name string) (verify.Digest, bool) {
	text := strings.TrimSpace(h.Text)
	if _, err := hex.DecodeString(text); err != nil {
		return verify.Digest{}, false
	}
	d, err := verify.ParseDigest(name + "=" + text)
	return d, err == nil
}

// setPieces sets the digests of the pieces, with the strongest algorithm. The
// digests must cover the complete file.
func (f *File) setPieces(all []pieces) {
	strength := -1
	for _, p := range all {
		size, err := strconv.ParseInt(p.Length, 10, 62)
		if err != nil || size < minPiece || size > maxPiece || f.Size < 0 || len(p.Hashes) > maxPieces ||
			int64(len(p.Hashes)) != (f.Size+size-1)/size {
			continue
		}
		digests := make([]verify.Digest, 0, len(p.Hashes))
		for _, h := range p.Hashes {
			if d, ok := h.digest(p.Type); ok {
				digests = append(digests, d)
			}
		}
		if len(digests) == len(p.Hashes) && len(digests) > 0 && digests[0].Strength() > strength {
			f.PieceSize, f.Pieces, strength = size, digests, digests[0].Strength()
		}
	}
}

// FromHeader returns the mirrors in the Link fields of the response for u, and the
// digest in its field Repr-Digest or Digest (RFC 6249). The first mirror is u.
// The result described is the URL of a Metalink document, or zero.
func FromHeader(u uri.URI, header fetch.Header) (f File, described uri.URI) {
	f.Size = -1
	if d, _, ok := verify.ReprDigest(header); ok {
		f.Digests = []verify.Digest{d}
	}
	var links []location
	for _, value := range header.Values("Link") {
		for _, link := range splitLinks(value) {
			if len(links) == 10*MaxMirrors {
				break
			}
			switch rel := strings.ToLower(link.parameters["rel"]); {
			case rel == "duplicate":
				links = append(links, location{Priority: link.parameters["pri"], Text: link.target})
			case rel == "describedby" && link.parameters["type"] == "application/metalink4+xml" && described.IsZero():
				if target, err := uri.ParseReference(link.target); err == nil {
					described, _ = u.Resolve(target)
				}
			}
		}
	}
	r := resolver{u, maxURLs}
	others, _ := r.mirrors(links) // if the URLs are too long, those with the best priority
	f.Mirrors = []Mirror{{u, 0}}
	for _, m := range others {
		if m.URL != u && len(f.Mirrors) < MaxMirrors {
			f.Mirrors = append(f.Mirrors, m)
		}
	}
	return f, described
}

type link struct {
	target     string
	parameters map[string]string
}

// splitLinks parses a Link field (RFC 8288 section 3).
func splitLinks(value string) (all []link) {
	for {
		_, rest, ok := strings.Cut(value, "<")
		target, rest, closed := strings.Cut(rest, ">")
		if !ok || !closed {
			return all
		}
		l := link{target, map[string]string{}}
		for {
			rest = strings.TrimLeft(rest, " \t")
			if !strings.HasPrefix(rest, ";") {
				break
			}
			var name, text string
			rest = strings.TrimLeft(rest[1:], " \t")
			end := strings.IndexAny(rest, "=;,")
			if end < 0 {
				end = len(rest)
			}
			name, rest = strings.ToLower(strings.TrimSpace(rest[:end])), rest[end:]
			if strings.HasPrefix(rest, "=") {
				text, rest = cutValue(strings.TrimLeft(rest[1:], " \t"))
			}
			if _, again := l.parameters[name]; !again && len(l.parameters) < 20 {
				l.parameters[name] = text
			}
		}
		all = append(all, l)
		value = rest
	}
}

// cutValue returns a token or a quoted string, and the text after it.
func cutValue(s string) (value, rest string) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexAny(s, ";, \t")
		if end < 0 {
			end = len(s)
		}
		return s[:end], s[end:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:]
		case '\\':
			if i++; i == len(s) {
				return b.String(), ""
			}
		}
		b.WriteByte(s[i])
	}
	return b.String(), ""
}
