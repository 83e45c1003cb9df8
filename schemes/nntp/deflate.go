package nntp

import (
	"net"

	"github.com/anyurl/fetch/fetch"
)

// minCompressed is the minimum number of articles in a response for which the
// driver requests compression.
const minCompressed = 100

// startCompression sends COMPRESS DEFLATE (RFC 8054) if compression is enabled
// for a response with the given number of articles. All later responses in the
// session are compressed. Neither a login nor STARTTLS is possible after
// COMPRESS.
func (d *driver) startCompression(s *session, articles uint64, listing bool) error {
	if d.Compress == CompressNever || d.Compress == CompressListings && !listing {
		return nil
	}
	if s.compressed || articles < minCompressed || !s.caps.hasArg("COMPRESS", "DEFLATE") {
		return nil
	}
	r, err := s.command("COMPRESS", "DEFLATE")
	if err != nil {
		return err
	}
	if r.Code != 206 {
		return nil // continue without compression
	}
	if s.Lines.Buffered() > 0 {
		s.Break()
		return fetch.Protocol.Errorf("server sent plaintext after agreeing to compression")
	}
	s.Stream, s.compressed = &deflateConn{s.Stream, newInflater(s.Stream)}, true
	return nil
}

// A deflateConn is a connection that sends and receives raw DEFLATE data. It
// sends commands as stored blocks, because they are too short to compress. It
// does not expose the underlying connection, so that [fetch.IsQuiet] checks
// only for decompressed bytes. Compressed bytes that arrive on an idle
// connection may be the end of a flush after the last response, so they are not
// an error.
type deflateConn struct {
	net.Conn
	inflater *inflater
}

func (c *deflateConn) Read(p []byte) (int, error) { return c.inflater.Read(p) }

func (c *deflateConn) Write(p []byte) (int, error) {
	if _, err := c.Conn.Write(storedBlocks(nil, p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
