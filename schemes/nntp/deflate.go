package nntp

import (
	"net"

	"github.com/anyurl/fetch/fetch"
)

// longAnswer is how many articles an answer tells of before compression is
// worth its setting up.
const longAnswer = 100

// compress makes the rest of the session one of DEFLATE (RFC 8054), where an
// answer for so many articles is due. Login and TLS come before it, never
// after.
func (d *driver) compress(s *session, articles uint64, listing bool) error {
	if d.Compress == CompressNever || d.Compress == CompressListings && !listing {
		return nil
	}
	if s.compressed || articles < longAnswer || !s.caps.hasArg("COMPRESS", "DEFLATE") {
		return nil
	}
	r, err := s.ask("COMPRESS", "DEFLATE")
	if err != nil {
		return err
	}
	if r.Code != 206 {
		return nil // nothing is lost
	}
	if s.Lines.Buffered() > 0 {
		s.Break()
		return fetch.Protocol.Errorf("text behind the answer to COMPRESS")
	}
	s.Stream, s.compressed = &deflated{s.Stream, newInflater(s.Stream)}, true
	return nil
}

// deflated is a connection with DEFLATE in both directions, without the
// headers of zlib. Commands are stored: they are too short to be worth more. It
// hides the connection below, where the end of a flush says nothing.
type deflated struct {
	net.Conn
	in *inflater
}

func (c *deflated) Read(p []byte) (int, error) { return c.in.Read(p) }

func (c *deflated) Write(p []byte) (int, error) {
	if _, err := c.Conn.Write(storedBlocks(nil, p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
