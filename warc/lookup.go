package warc

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/internal/format/linesort"
	"github.com/anyurl/fetch/uri"
)

// An IndexFile is a sorted CDXJ file that is searched for the captures of a URL.
// Each search reads a few blocks of the file, so memory use does not depend on
// its size. An IndexFile is safe for concurrent use. The caller must close it.
type IndexFile struct {
	sortedLines
}

// OpenIndex opens a CDXJ file. Its lines must be sorted by bytes, as with
// LC_ALL=C sort. OpenIndex reads the first line and returns an error if it is
// not a line of a CDXJ file.
func OpenIndex(name string) (*IndexFile, error) {
	f, err := regularfile.Open(name)
	if err != nil {
		return nil, fetch.LocalError(err)
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		f.Close()
		return nil, fetch.LocalError(err)
	}
	return NewIndexFile(f, size)
}

// NewIndexFile is like [OpenIndex] for the first size bytes of r, which contain the
// lines of a CDXJ file. Close of the result, or NewIndexFile if it returns an error,
// closes r if r is an io.Closer.
func NewIndexFile(r io.ReaderAt, size int64) (*IndexFile, error) {
	x := &IndexFile{}
	x.index, x.size, x.probes = r, size, &probeCache{}
	for _, err := range parseLines(linesort.Read(io.NewSectionReader(r, 0, size)), 0) {
		if err != nil {
			x.Close()
			return nil, fetch.LocalError(err)
		}
		break
	}
	return x, nil
}

// Close closes the file. It does nothing if x is nil.
func (x *IndexFile) Close() error {
	if x == nil {
		return nil
	}
	c, ok := x.index.(io.Closer)
	if !ok {
		return nil
	}
	return fetch.LocalError(c.Close())
}

// Original searches the index for a capture with the URL, the HTTP status and
// the payload digest of the first record of a group. If the group has a request with
// another method than GET, the capture has the same method and body. Original
// returns a reference for [Capture.Revisit]. The result digest is the payload digest
// in the index. The result ok is false if there is no such capture, or if the Body of
// the first record is not an io.ReadSeeker. URLs with the same [Key] are treated as
// equal. Original restores the positions of the bodies. If the file is not sorted,
// Original can miss captures or return an error that wraps fetch.Mismatch.
func (x *IndexFile) Original(group ...*Record) (original Reference, digest string, ok bool, err error) {
	if len(group) == 0 {
		return original, "", false, nil
	}
	r := group[0]
	body, seekable := r.Body.(io.ReadSeeker)
	if !seekable || r.Type != Response && r.Type != Resource {
		return original, "", false, nil
	}
	sized := *r
	start, err := body.Seek(0, io.SeekCurrent)
	if err == nil {
		sized.Size, err = body.Seek(0, io.SeekEnd)
	}
	if err == nil {
		_, err = body.Seek(start, io.SeekStart)
	}
	if err != nil {
		return original, "", false, fetch.LocalError(err)
	}
	own, err := sized.indexLine(nil)
	if err != nil || own.Key == "" {
		return original, "", false, fetch.LocalError(err)
	}
	requests, err := requestsOf(group)
	if err != nil {
		return original, "", false, fetch.LocalError(err)
	}
	for i, summary := range requests {
		if areLinked(group, i, 0) {
			own.addRequest(&summary)
		}
	}
	sums := map[Algorithm]string{}
	for l, err := range x.lookup(own.Key) {
		if err != nil {
			return original, "", false, err
		}
		want := l.labeledDigest()
		at, invalid := time.Parse("20060102150405", l.Timestamp)
		u, err := uri.Parse(l.URL)
		if want == "" || invalid != nil || err != nil || l.Media == "warc/revisit" || l.Status != own.Status {
			continue
		}
		a := algorithmOf(want)
		if sums[a] == "" {
			if sums[a], err = payloadDigest(body, a, r.Type); err != nil {
				return original, "", false, fetch.LocalError(err)
			}
		}
		if same, _ := sameDigest(want, sums[a]); same {
			return Reference{URL: u, Date: at}, sums[a], true, nil
		}
	}
	return original, "", false, nil
}

// payloadDigest returns the digest of the payload of a block. It restores the
// position of the block. If the block is an invalid HTTP message, the result is
// "invalid".
func payloadDigest(block io.ReadSeeker, a Algorithm, t Type) (string, error) {
	if _, payload, ok := sumsOf(block, a); ok && t == Response {
		return payload, nil
	}
	d := newDigester(a, t)
	start, err := block.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = io.Copy(d, block)
	}
	if err == nil {
		_, err = block.Seek(start, io.SeekStart)
	}
	if sum := d.Payload(); sum != "" {
		return sum, err
	}
	return "invalid", err
}

// labeledDigest returns the digest of the line with its label, such as
// "sha1:DIGEST", or "" if the line has no digest of a supported algorithm. Many
// programs omit the label in an index.
func (l Line) labeledDigest() string {
	text := l.Digest
	if !strings.Contains(text, ":") {
		switch len(text) {
		case 32, 40:
			text = "sha1:" + text
		case 64:
			text = "sha256:" + text
		}
	}
	name, _, ok := splitDigest(text)
	if !ok {
		return ""
	}
	_, value, _ := strings.Cut(text, ":")
	return name + ":" + value
}

// Lookup returns the index lines of u and of equivalent URLs. For an http URL
// without lines, it returns the lines of the https URL, and vice versa. The lines
// of each spelling of the URL are sorted by date. Lookup reads a few blocks of
// the index and no records, so some lines may refer to records that cannot be
// replayed.
func (a *Archive) Lookup(u uri.URI) iter.Seq2[Line, error] { return a.linesOf(u) }

// Search returns the index lines of the URLs that begin with prefix, in the
// order of the index. Prefixes are compared by [Key], so that a prefix of an
// http URL has at least a complete host name. An empty prefix selects all
// lines. Search finds the first result by binary search and reads the index
// from there.
//
// The parameter from is 0, or the field Next of the last line that an earlier
// Search with the same prefix returned. Search then continues after that line,
// or with the next line if from is not the start of a line.
func (a *Archive) Search(prefix string, from int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		key, buffer := "", 64<<10
		if prefix != "" {
			key, buffer = escape(Key(prefix), " "), searchBuffer
			start, err := a.search(key)
			if err != nil {
				yield(Line{}, err)
				return
			}
			from = max(start, from)
		}
		next, _, err := lineAt(bufio.NewReaderSize(nil, searchBuffer), a.index, a.size, 0, min(max(from, 0), a.size))
		if err != nil {
			yield(Line{}, err)
			return
		}
		lines := linesort.ReadSize(io.NewSectionReader(a.index, next, a.size-next), buffer)
		parseLines(whilePrefix(lines, key), next)(yield)
	}
}

// parseLines parses lines of an index, the first of which starts at offset.
func parseLines(in linesort.Lines, offset int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for text, err := range in {
			offset += int64(len(text))
			if err == nil && text[0] == '!' { // a line with metadata
				continue
			}
			var l Line
			if err == nil {
				l, err = ParseLine(string(text))
			}
			l.Next = offset
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}

// sortedLines is a CDXJ file that is sorted by bytes.
type sortedLines struct {
	index  io.ReaderAt
	size   int64       // bytes in index
	probes *probeCache // lines read by the first steps of searches
}

// lookup returns the index lines with the given key.
func (a *sortedLines) lookup(key string) iter.Seq2[Line, error] {
	return a.lookupPrefix(escape(key, " ") + " ")
}

// lookupPrefix returns the index lines that begin with key.
func (a *sortedLines) lookupPrefix(key string) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		start, err := a.search(key)
		if err != nil {
			yield(Line{}, err)
			return
		}
		lines := linesort.ReadSize(io.NewSectionReader(a.index, start, a.size-start), searchBuffer)
		parseLines(whilePrefix(lines, key), start)(yield)
	}
}

// whilePrefix returns a sequence that ends before the first line that does not
// begin with prefix.
func whilePrefix(in linesort.Lines, prefix string) linesort.Lines {
	return func(yield func([]byte, error) bool) {
		for text, err := range in {
			if err == nil && !bytes.HasPrefix(text, []byte(prefix)) || !yield(text, err) || err != nil {
				return
			}
		}
	}
}

// A probeCache caches the lines that the first steps of a binary search read,
// because these steps are the same in many searches. It is safe for concurrent
// use.
type probeCache struct {
	mu    sync.RWMutex
	lines map[int64]probe // keyed by the offset in the middle of the searched range
}

type probe struct {
	start int64
	line  string
}

// A probeCache stores the lines of the first cachedSteps steps of each search,
// at most 8191 lines. It stores no lines with more than maxCachedLine bytes.
const (
	cachedSteps   = 13
	maxCachedLine = 512
)

func (c *probeCache) get(offset int64) (p probe, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	p, ok = c.lines[offset]
	return p, ok
}

func (c *probeCache) add(offset int64, p probe) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lines == nil {
		c.lines = map[int64]probe{}
	}
	c.lines[offset] = p
}

// search performs a binary search in the sorted lines. It returns the offset of
// the first line that is not less than key. If the lines that it reads are not
// sorted, it returns an error.
func (a *sortedLines) search(key string) (int64, error) {
	low, high := int64(0), a.size
	in := bufio.NewReaderSize(nil, searchBuffer)
	var before, after string // a line that ends at or before low, and a line that starts at or after high
	for step := 0; low < high; step++ {
		middle := low + (high-low)/2
		var err error
		p, known := probe{}, false
		if step < cachedSteps {
			p, known = a.probes.get(middle)
		}
		if !known {
			p.start, p.line, err = lineAt(in, a.index, a.size, low, middle)
			if err == nil && step < cachedSteps && len(p.line) <= maxCachedLine {
				a.probes.add(middle, p)
			}
		}
		start, line := p.start, p.line
		switch {
		case err != nil:
			return 0, err
		case start >= high:
			high = middle
			continue
		case line < before || after != "" && line > after:
			return 0, fetch.Mismatch.Errorf("the lines of the index are not sorted at offset %d: sort them by bytes", start)
		case line < key:
			low, before = start+int64(len(line)), line
		default:
			high, after = start, line
		}
	}
	return low, nil
}

// searchBuffer is the number of bytes that each step of a search reads. Most
// lines are much shorter.
const searchBuffer = 2 << 10

// lineAt returns the position of the first line that starts at or after offset,
// and the line. A line must start at low, which is at most offset. lineAt reads
// with the buffer of in.
func lineAt(in *bufio.Reader, index io.ReaderAt, size, low, offset int64) (int64, string, error) {
	from := max(offset-1, low) // the line break before offset
	skip := offset > low
	in.Reset(io.NewSectionReader(index, from, size-from))
	for text, err := range linesort.ReadSize(in, searchBuffer) {
		if err != nil {
			return 0, "", err
		}
		if !skip {
			return from, string(text), nil
		}
		from, skip = from+int64(len(text)), false
	}
	return size, "", nil
}
