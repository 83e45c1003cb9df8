package faultnet

import (
	"compress/flate"
	"errors"
	"io"
	"net"
)

// Deflate returns a Step that starts DEFLATE compression in both directions, as
// COMPRESS DEFLATE does in NNTP (RFC 8054) and IMAP (RFC 4978). Later steps use
// the compressed connection.
func Deflate() Step {
	return Do("deflate", func(c *Conn) error {
		plain := c.in.takenBytes()
		w, err := flate.NewWriter(c.top, flate.DefaultCompression)
		if err != nil {
			return err
		}
		c.startLayer(&deflated{Conn: c.top, r: flate.NewReader(inboxConn{c.top, c.in}), w: w}, plain)
		return nil
	})
}

// deflated is a compressed connection. It flushes every Write.
type deflated struct {
	net.Conn
	r io.Reader
	w *flate.Writer
}

func (d *deflated) Write(p []byte) (int, error) {
	n, err := d.w.Write(p)
	return n, errors.Join(err, d.w.Flush())
}

// Read returns io.EOF at the end of the connection even if the last DEFLATE
// block is missing, because clients do not send the last block.
func (d *deflated) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}

func (d *deflated) CloseWrite() error {
	return d.Conn.(interface{ CloseWrite() error }).CloseWrite()
}
