package http1

import "io"

// A Message separates the head and the payload of a stored message. The payload
// is the body after removal of the chunked coding (WARC 1.1 section 6.3).
// Content codings are kept. Some programs decode the body but keep
// Transfer-Encoding in the head. If the body does not start with a chunk, it is
// the payload unchanged.
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
	invalid // the block is not a message, or its chunks are malformed
)

// storedRules are the rules for messages in archives. They are read-only.
var storedRules = Rules{Mode: Stored}

// Next consumes one or more bytes of p. It returns their number and the payload
// among them.
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

// beginBody sets the framing of the body from the complete head. After an
// interim response it prepares m for another head.
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

// End returns payload that Next withheld. The caller must call it at the end of
// the block.
func (m *Message) End() []byte {
	if m.state != atChunks || m.chunks.sizeSeen || len(m.chunks.line) == 0 {
		return nil
	}
	m.state, m.framing.End = atBody, AtClose
	return m.chunks.line
}

// Head returns the head with its blank line, without interim responses. If the
// head is truncated, Head returns its complete lines.
func (m *Message) Head() []byte { return m.lines.Complete() }

// InHead reports whether the head is incomplete.
func (m *Message) InHead() bool { return m.state == atHead }

// Interim returns the size in bytes of the interim responses before the head.
func (m *Message) Interim() int64 { return m.interimSize }

// Verbatim reports whether all further bytes of the block are payload.
func (m *Message) Verbatim() bool { return m.state == atBody }

// Length returns the value of Content-Length, or -1 if the size of the payload
// is unknown.
func (m *Message) Length() int64 {
	if m.state != atBody {
		return -1
	}
	return m.framing.Length
}

// PayloadValid reports whether the bytes from Next are the payload. It returns
// false for an incomplete head, malformed chunks and transfer codings other
// than chunked.
func (m *Message) PayloadValid() bool {
	return m.state != atHead && m.state != invalid && len(m.framing.Codings) == 0
}

// A Reader reads the head and then the payload of a stored message.
type Reader struct {
	Message
	block   io.Reader
	buffer  []byte
	unread  []byte // unread part of buffer
	payload []byte // unread payload
	ended   bool
}

// NewReader returns a Reader of the message in block. size is the size of its
// buffer in bytes.
func NewReader(block io.Reader, size int) *Reader {
	return &Reader{block: block, buffer: make([]byte, size)}
}

// ReadHead reads up to the start of the payload and returns [Message.Head].
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
	r.unread, r.payload = r.unread[n:], payload
}

// Read reads the payload. It returns [io.ErrUnexpectedEOF] if the chunks are
// malformed or truncated.
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
