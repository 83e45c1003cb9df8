package smb

import (
	"io"
	"time"

	"github.com/cloudsoda/go-smb2"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// Limits for the length of a read request. Its length is doubled while replies
// arrive soon, so that a slow connection returns data all the time.
const (
	firstRead   = 64 << 10
	largestRead = 1 << 20
	soon        = time.Second / 2
	late        = 4 * time.Second
)

// A content reads a range of a file.
type content struct {
	session *session
	file    *smb2.File
	offset  int64 // of the next read
	end     int64 // of the range
	length  int64 // of the next read
	buffer  []byte
	pending []byte // part of buffer that Read has not returned yet
	err     error
}

func newContent(s *session, file *smb2.File, first, end int64) *content {
	return &content{session: s, file: file, offset: first, end: end, length: firstRead}
}

// Read returns io.EOF after the last byte of the range.
func (c *content) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return sessions.ReadPending(p, &c.pending, &c.err, c.fill)
}

// fill reads the next part of the file.
func (c *content) fill() {
	if c.offset >= c.end {
		c.session.close(c.file) // if it fails, the range is complete, and the session is broken
		c.err = io.EOF
		return
	}
	length := min(c.length, c.end-c.offset)
	if int64(len(c.buffer)) < length {
		c.buffer = make([]byte, length)
	}
	var n int
	start := time.Now()
	c.err = c.session.call(calling, "READ", "", func() (err error) {
		n, err = c.file.ReadAt(c.buffer[:length], c.offset)
		if err == io.EOF {
			err = nil
		}
		return err
	})
	switch took := time.Since(start); {
	case c.err != nil:
		return
	case n <= 0:
		c.err = fetch.Truncated.Errorf("file ends %d bytes before its announced end", c.end-c.offset)
		return
	case took < soon:
		c.length = min(2*c.length, largestRead)
	case took > late:
		c.length = max(c.length/2, firstRead)
	}
	c.pending = c.buffer[:n]
	c.offset += int64(n)
}
