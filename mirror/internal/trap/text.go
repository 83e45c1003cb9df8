package trap

import (
	"encoding/binary"
	"strings"
	"sync"

	"github.com/anyurl/fetch/internal/base/lazy"
)

const (
	sameTextStart  = 10      // number of pages with the same text before Limits.SameText applies
	randomShare    = 15      // pages with the same text add at most Limits.SameText/randomShare random URLs
	maxTextDigests = 1 << 16 // maximum number of digests in Pages
)

// A TextDigest computes a digest of the HTML document that is written to it.
// The documents of a host have the same digest if they differ only inside tags,
// in words that contain a digit. A path is one word. Such words in the tags of
// images, frames and other media are significant.
type TextDigest struct {
	sum   uint64 // FNV-1a
	start uint64 // sum before the current word
	name  []byte // start of the name of the current tag
	state uint8
	digit bool // the current word contains a digit
	word  bool // the previous byte belongs to a word
	used  bool // Write was called
}

const (
	outsideTag  uint8 = iota
	inTagName         // in the name of a tag
	inTag             // after the name of a tag
	inMediaTag        // after the name of a tag that displays another object
	fnvOffset   = 14695981039346656037
	fnvPrime    = 1099511628211
	longestName = len("iframe")
)

// NewTextDigest returns the digest of an empty document of the given host.
func NewTextDigest(host string) *TextDigest {
	t := &TextDigest{sum: fnvOffset}
	for _, b := range []byte(host) {
		t.add(b)
	}
	return t
}

// Write adds p to the document. It never returns an error.
func (t *TextDigest) Write(p []byte) (int, error) {
	t.used = true
	for _, b := range p {
		if t.state == outsideTag {
			t.add(b)
			if b == '<' {
				t.state, t.name = inTagName, t.name[:0]
			}
			continue
		}
		letter := 'a' <= b|0x20 && b|0x20 <= 'z' || strings.IndexByte("/.-_%", b) >= 0
		digit := '0' <= b && b <= '9'
		switch {
		case !letter && !digit:
			t.endTagName()
			t.endWord()
			if b == '>' {
				t.state = outsideTag
			}
		case !t.word:
			t.start, t.digit, t.word = t.sum, digit, true
		default:
			t.digit = t.digit || digit
		}
		if t.state == inTagName && len(t.name) <= longestName {
			t.name = append(t.name, b|0x20)
		}
		t.add(b)
	}
	return len(p), nil
}

// Sum returns the digest of the bytes that were written. The result ok is false
// if Write was not called.
func (t *TextDigest) Sum() (sum uint64, ok bool) { return t.sum, t.used }

func (t *TextDigest) add(b byte) { t.sum = (t.sum ^ uint64(b)) * fnvPrime }

// endTagName updates the state after the last byte of the name of a tag.
func (t *TextDigest) endTagName() {
	if t.state != inTagName {
		return
	}
	t.state = inTag
	switch string(t.name) {
	case "img", "iframe", "frame", "embed", "object", "video", "audio", "source", "image":
		t.state = inMediaTag
	}
}

// endWord replaces the last word in the digest by "0" if the word contains a
// digit.
func (t *TextDigest) endWord() {
	if t.word && t.digit && t.state != inMediaTag {
		t.sum = t.start
		t.add('0')
	}
	t.word = false
}

// Pages counts the pages that have the same text and add URLs. It is
// safe for concurrent use.
type Pages struct {
	mu    sync.Mutex
	pages map[uint64]uint8 // number of pages with each digest, at most sameTextStart
	urls  Counter          // pages that add URLs, and URLs that may be random
}

// IsRepeated counts a page with the given digest. It reports whether
// sameTextStart earlier pages have this digest.
func (g *Pages) IsRepeated(digest uint64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pages[digest] >= sameTextStart {
		return true
	}
	if g.pages == nil || len(g.pages) >= maxTextDigests {
		g.pages = map[uint64]uint8{}
	}
	g.pages[digest]++
	return false
}

// Admit counts a link from the page to the URL with the key item. It returns
// false if pages with the given digest may not add this URL.
func (g *Pages) Admit(digest uint64, page, item [16]byte, random bool, limit int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := string(binary.BigEndian.AppendUint64(nil, digest))
	if random {
		return g.urls.Admit(key+"random", binary.BigEndian.Uint64(item[:]), max(limit/randomShare, 1))
	}
	return g.urls.Admit(key, binary.BigEndian.Uint64(page[:]), limit)
}

// longWord matches words of at least 8 letters and digits.
var longWord = lazy.Regexp(`[A-Za-z0-9]{8,}`)

// LooksRandom reports whether the path or the query of a URL contains a word
// that may be random: a longWord with a digit.
func LooksRandom(text string) bool {
	_, text, _ = strings.Cut(text, "://")
	_, text, _ = strings.Cut(text, "/")
	for _, word := range longWord().FindAllString(text, -1) {
		if strings.ContainsAny(word, "0123456789") {
			return true
		}
	}
	return false
}
