package archive

import (
	"bytes"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/warc"
)

// maxVerified is the maximum size in bytes of a WARC record that hasRecord verifies
// completely. Of a larger record it reads only the header, because a run over
// an unchanged archive would otherwise read the complete archive.
const maxVerified = 256 << 10

// matchesChecksum reports whether the bytes of the WARC record of c match
// Capture.Checksum, and whether the header of the record describes c. The database
// can come from an untrusted source, so the checksum alone does not prove the
// description. This takes less time than readRecord, which computes digests. The
// record of a capture without a checksum can be intact too.
func (a *Archive) matchesChecksum(c *frontier.Capture) bool {
	if c.Checksum == 0 || c.Length < 0 || c.Length > maxVerified || a.options.Recheck {
		return false
	}
	f, err := a.openWARC(c.File)
	if err != nil {
		return false
	}
	defer f.Close()
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

// recordHeader reads the header of the WARC record of c. It returns nil if the
// record is missing or damaged.
func (a *Archive) recordHeader(c *frontier.Capture) *warc.Header {
	f, err := a.openWARC(c.File)
	if err != nil {
		return nil
	}
	defer f.Close()
	h, err := warc.NewReaderAt(f, c.Offset).Next()
	if err != nil || !describes(c, h) {
		return nil
	}
	return h
}

// describes reports whether h is the header of the WARC record of c.
func describes(c *frontier.Capture, h *warc.Header) bool {
	return h.ID() == c.ID && h.Target() == c.URL && h.Get("WARC-Payload-Digest") == c.Proof
}

// refersTo reports whether h is the header of a revisit record of the record with
// the given ID.
func refersTo(h *warc.Header, id string) bool {
	return strings.Trim(h.Get("WARC-Refers-To"), "<>") == id
}
