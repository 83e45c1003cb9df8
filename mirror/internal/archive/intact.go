package archive

import (
	"bytes"
	"context"
	"hash/crc32"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// maxVerified is the maximum size in bytes of a WARC record that Has verifies
// completely. Of a larger record it reads only the header, because a run over
// an unchanged archive would otherwise read the complete archive.
const maxVerified = 256 << 10

// An intactSet is the set of WARC records that this process has written or
// verified. It is safe for concurrent use.
type intactSet struct {
	mu  sync.Mutex
	set map[recordKey]struct{}
}

// placeOf returns a key for the WARC record of c, which depends on its
// position, its ID, its URL and its payload digest.
func placeOf(c *frontier.Capture) recordKey {
	return newRecordKey(c.File, strconv.FormatInt(c.Offset, 10), c.ID, c.URL, c.Proof)
}

// add adds the record of c to the set. If the set is full, add first removes all
// records.
func (s *intactSet) add(c *frontier.Capture) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.set == nil || len(s.set) >= maxProofs {
		s.set = map[recordKey]struct{}{}
	}
	s.set[placeOf(c)] = struct{}{}
}

func (s *intactSet) contains(c *frontier.Capture) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.set[placeOf(c)]
	return ok
}

// hasRecord reports whether the WARC record of c is intact, and whether its
// header has the record ID, the URL and the payload digest of c. If the record is a
// revisit record, the first record of the same content must be intact too.
func (a *Archive) hasRecord(c *frontier.Capture) bool {
	if a.intact.contains(c) || a.isRemote(c.File) {
		return true
	}
	if a.matchesChecksum(c) {
		a.intact.add(c)
		return true
	}
	h, intact := a.readRecord(c)
	if !intact {
		return false
	}
	inArchive := h.Get("WARC-Refers-To") != "" // otherwise Options.Dedup has the original
	if h.Type() == warc.Revisit && inArchive && !a.hasOriginal(c, h) {
		return false
	}
	a.intact.add(c)
	return true
}

// lookupTime is the maximum time of a lookup in a shared database. A commit may
// wait for the lookup.
const lookupTime = 10 * time.Second

// lookupContext returns the context of a lookup in the database. If the lookup
// fails, a record counts as damaged, and the payload is written again.
func (a *Archive) lookupContext() (context.Context, context.CancelFunc) {
	if a.options.Shared == nil || a.running == nil {
		return context.Background(), func() {}
	}
	return context.WithTimeout(a.running, lookupTime)
}

// hasOriginal reports whether the record to which a revisit record refers is
// intact. The parameter h is the header of the revisit record of c.
func (a *Archive) hasOriginal(c *frontier.Capture, h *warc.Header) bool {
	ctx, cancel := a.lookupContext()
	defer cancel()
	for s, err := range a.frontier.RecordsOf(ctx, c.Digest) {
		if err != nil {
			return false
		}
		if refersTo(h, s.ID) {
			if a.matchesChecksum(&s.Capture) {
				return true
			}
			first, intact := a.readRecord(&s.Capture)
			return intact && first.Type() != warc.Revisit
		}
	}
	return false
}

// originalOf returns the capture in another archive to which the revisit record
// of c refers. The result has only a URL, a date and a payload digest. If c has
// no such revisit record, originalOf returns c.
func (a *Archive) originalOf(c *frontier.Capture) *frontier.Capture {
	if c.Checksum != 0 || a.isRemote(c.File) { // a revisit record has no checksum
		return c
	}
	h := a.recordHeader(c)
	if h == nil || h.Type() != warc.Revisit || h.Get("WARC-Refers-To") != "" {
		return c
	}
	u, err := uri.Parse(strings.Trim(h.Get("WARC-Refers-To-Target-URI"), "<>"))
	if err != nil {
		return c
	}
	date, _ := time.Parse(time.RFC3339, h.Get("WARC-Refers-To-Date")) // zero if the field is missing
	return &frontier.Capture{URL: u.Unredacted(), Time: date, Proof: c.Proof}
}

// matchesChecksum reports whether the bytes of the WARC record of c match
// Capture.Checksum, and whether the header of the record describes c. The database
// can come from an untrusted source, so the checksum alone does not prove the
// description. This takes less time than readRecord, which computes digests. The
// record of a capture without a checksum can be intact too.
func (a *Archive) matchesChecksum(c *frontier.Capture) bool {
	if c.Checksum == 0 || c.Length < 0 || c.Length > maxVerified || a.options.Recheck {
		return false
	}
	f, err := a.recent.open(c.File, a.openWARC)
	if err != nil {
		return false
	}
	v := a.verifier()
	defer a.verifiers.Put(v)
	v.bytes = slices.Grow(v.bytes[:0], int(c.Length))[:c.Length]
	_, err = f.ReadAt(v.bytes, c.Offset)
	if err != nil || crc32.ChecksumIEEE(v.bytes) != c.Checksum {
		return false
	}
	return v.describes(c, min(len(v.bytes), headerStart)) || v.describes(c, len(v.bytes))
}

// headerStart is a number of bytes that usually contain the header of a
// compressed record. From a truncated record, the decompressor returns the
// header without decompressing the complete record first.
const headerStart = 768

// describes reports whether the first n bytes contain a record header that
// describes c.
func (v *recordVerifier) describes(c *frontier.Capture, n int) bool {
	h := v.Header(bytes.NewReader(v.bytes[:n]), 0)
	return h != nil && describes(c, h)
}

// A recentFile caches the file that was opened last, because opening a WARC
// file takes longer than reading a small record. It is safe for concurrent use.
type recentFile struct {
	mu   sync.Mutex
	name string
	file *os.File
}

// open returns the file with the given name. If this file is not cached, it is
// opened by calling the second argument. The next call may close the file, so
// that a concurrent read fails.
func (r *recentFile) open(name string, open func(string) (*os.File, error)) (*os.File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file != nil && r.name == name {
		return r.file, nil
	}
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	if r.file != nil {
		r.file.Close()
	}
	r.name, r.file = name, f
	return f, nil
}

func (r *recentFile) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	f := r.file
	r.file = nil
	return f.Close()
}

// A recordVerifier contains the buffers for one record.
type recordVerifier struct {
	warc.RecordVerifier
	bytes []byte
}

// verifier returns a recordVerifier. The caller must return it to a.verifiers.
func (a *Archive) verifier() *recordVerifier {
	if v, ok := a.verifiers.Get().(*recordVerifier); ok {
		return v
	}
	return &recordVerifier{}
}

// readRecord reads the WARC record of c and reports whether it is intact. Of a
// large record it reads only the header, unless Options.Recheck is set.
func (a *Archive) readRecord(c *frontier.Capture) (h *warc.Header, intact bool) {
	if c.Length > maxVerified && !a.options.Recheck {
		h = a.recordHeader(c)
		return h, h != nil
	}
	f, err := a.openWARC(c.File)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	v := a.verifier()
	defer a.verifiers.Put(v)
	h, intact = v.Verify(f, c.Offset)
	return h, intact && describes(c, h)
}

// LostRecord reports whether the WARC record of c existed earlier, but is now
// missing or damaged. It returns false if the run writes no WARC files.
func (a *Archive) LostRecord(c *frontier.Capture) bool {
	return a.options.WARC != nil && c.ID != "" && (c.File == "" || !a.hasRecord(c))
}
