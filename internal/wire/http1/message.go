package http1

import (
	"bytes"
	"hash"
	"io"
)

// A Message parses a message that is stored in an archive. It separates the
// message head from the payload. The payload is the body without the transfer
// coding chunked (WARC 1.1 section 6.3). Content codings, such as gzip, are not
// decoded.
//
// Some programs store a decoded body but keep the Transfer-Encoding field. If
// the body does not start with a chunk, Message returns the body unchanged as
// the payload.
//
// The zero Message is ready to use.
type Message struct {
	lines       Lines
	chunks      Chunks
	framing     Framing
	state       messageState
	interimSize int64
}

type messageState uint8

const (
	atHead messageState = iota
	atBody              // all further bytes are payload
	atChunks
	atEnd   // no further bytes are payload
	invalid // the archive record is not a message, or its chunks are malformed
)

// storedRules are the rules for messages in archives. They must not be
// modified.
var storedRules = Rules{Mode: Stored}

// Next parses bytes at the start of p. It returns the number of bytes consumed
// and the part of the payload that they contain.
func (m *Message) Next(p []byte) (n int, payload []byte) {
	switch m.state {
	case atHead:
		return m.nextHead(p), nil
	case atBody:
		return len(p), p
	case atChunks:
		return m.nextChunk(p)
	}
	return len(p), nil
}

func (m *Message) nextHead(p []byte) int {
	m.lines.Rules = &storedRules
	n, done, err := m.lines.Next(p)
	if err != nil {
		m.state = invalid
	}
	if done {
		m.beginBody()
	}
	return n
}

// beginBody determines the framing of the body after a complete message head.
// After an interim response, it prepares m for the next head.
func (m *Message) beginBody() {
	status, fields, _ := ParseHead[struct{ Name, Value string }](&storedRules, m.lines.Head())
	if c := status.Code; c >= 100 && c < 200 && c != 101 {
		m.interimSize += int64(len(m.lines.Text))
		m.lines.Restart(m.lines.Text[:0])
		return
	}
	m.framing, _ = Frame(&storedRules, status, fields, false)
	m.state = atBody
	if m.framing.End == AtChunks {
		m.state, m.chunks.Rules = atChunks, &storedRules
	}
}

func (m *Message) nextChunk(p []byte) (n int, payload []byte) {
	n, payload, err := m.chunks.Next(p)
	switch {
	case err != nil && !m.chunks.sizeSeen:
		m.state, m.framing.End = atBody, AtClose
		return n, m.chunks.line
	case err != nil:
		m.state = invalid
	case m.chunks.Done():
		m.state = atEnd
	}
	return n, payload
}

// End returns the last bytes of the payload that Next has not returned. Next
// keeps bytes that could be an incomplete chunk size. The caller must call End
// after the last byte of the message.
func (m *Message) End() []byte {
	if m.state != atChunks || m.chunks.sizeSeen || len(m.chunks.line) == 0 {
		return nil
	}
	m.state, m.framing.End = atBody, AtClose
	return m.chunks.line
}

// Head returns the message head, including the final blank line. It omits interim
// responses. If the head is truncated, Head returns the complete lines.
func (m *Message) Head() []byte { return m.lines.Complete() }

// HasHead reports whether Next has parsed a complete message head and has found
// no error since then.
func (m *Message) HasHead() bool { return m.state != atHead && m.state != invalid }

// InHead reports whether Next has not yet reached the end of the message head.
func (m *Message) InHead() bool { return m.state == atHead }

// Interim returns the size in bytes of all interim responses before the final
// response.
func (m *Message) Interim() int64 { return m.interimSize }

// Verbatim reports whether all bytes after the message head are payload. It
// returns false for a chunked body.
func (m *Message) Verbatim() bool { return m.state == atBody }

// TransferCoded reports whether the body has a transfer coding, such as
// chunked.
func (m *Message) TransferCoded() bool {
	return m.framing.End == AtChunks || len(m.framing.Codings) > 0
}

// Length returns the value of Content-Length. It returns -1 if the size of the
// payload is unknown.
func (m *Message) Length() int64 {
	if m.state != atBody {
		return -1
	}
	return m.framing.Length
}

// PayloadValid reports whether Next returned the exact payload. It returns
// false for an incomplete head, malformed chunks and transfer codings other
// than chunked.
func (m *Message) PayloadValid() bool {
	return m.state != atHead && m.state != invalid && len(m.framing.Codings) == 0
}

// A Reader reads the message head and the payload of a message from an archive.
type Reader struct {
	Message
	block   io.Reader
	buffer  []byte
	unread  []byte // unread part of buffer
	payload []byte // unread payload
	ended   bool
	stored  hash.Hash // receives the body with its transfer coding, or nil
}

// NewReader returns a Reader that reads a message from block. size is the
// buffer size in bytes.
func NewReader(block io.Reader, size int) *Reader {
	return &Reader{block: block, buffer: make([]byte, size)}
}

// ReadHead reads the message head and returns it in the form of [Message.Head].
func (r *Reader) ReadHead() ([]byte, error) {
	for r.InHead() && !r.ended {
		if err := r.fill(); err != nil {
			return nil, err
		}
		for len(r.unread) > 0 && r.InHead() {
			r.step()
		}
	}
	return r.Head(), nil
}

func (r *Reader) fill() error {
	n, err := r.block.Read(r.buffer)
	r.unread = r.buffer[:n]
	if err == io.EOF {
		r.ended, err = true, nil
	}
	return err
}

func (r *Reader) step() {
	n, payload := r.Next(r.unread)
	if r.stored != nil {
		r.stored.Write(r.unread[:n])
	}
	r.unread, r.payload = r.unread[n:], payload
}

// Raw returns a reader for the body with its transfer coding still applied. The
// caller must call ReadHead before Raw, and must not call Read.
func (r *Reader) Raw() io.Reader { return io.MultiReader(bytes.NewReader(r.unread), r.block) }

// CopyStored makes Read write the body with its transfer coding to h. The
// caller must call ReadHead before CopyStored.
func (r *Reader) CopyStored(h hash.Hash) { r.stored = h }

// Read reads the payload of the message. It returns [io.ErrUnexpectedEOF] if a
// chunk is malformed or truncated.
func (r *Reader) Read(p []byte) (int, error) {
	if _, err := r.ReadHead(); err != nil {
		return 0, err
	}
	for len(r.payload) == 0 {
		switch {
		case len(r.unread) > 0:
			r.step()
		case !r.ended:
			if err := r.fill(); err != nil {
				return 0, err
			}
		case r.state == atBody || r.state == atEnd || r.state == atHead:
			return 0, io.EOF
		default:
			if r.payload = r.End(); len(r.payload) == 0 {
				return 0, io.ErrUnexpectedEOF
			}
		}
	}
	n := copy(p, r.payload)
	r.payload = r.payload[n:]
	return n, nil
}
