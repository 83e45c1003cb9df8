package http1

import "io"

// A Message separates the head and the payload of a stored message. The payload
// is the body without its chunks, and with its content coding (WARC 1.1 section
// 6.3). A body that is not chunked although its head says so, as some proxies
// write it, is the payload unchanged.
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
	atBody              // the rest is payload
	atChunks
	atEnd   // the rest is no payload
	invalid // the block is no message, or its chunks are malformed
)

// stored are the rules for archives. Nothing changes them.
var storedRules = Rules{Mode: Stored}

// Next consumes a part of p, at least a byte, and returns its size and the
// payload in it.
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

// decide finds out from the head what follows.
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

// End returns the payload that was held back at the end of the block.
func (m *Message) End() []byte {
	if m.state != atChunks || m.chunks.sizeSeen || len(m.chunks.line) == 0 {
		return nil
	}
	m.state, m.framing.End = atBody, AtClose
	return m.chunks.line
}

// Head returns the head with its blank line. Interim responses before it are
// left out. A message that ends early has the lines that are complete.
func (m *Message) Head() []byte { return m.lines.Complete() }

// InHead reports whether the head is incomplete.
func (m *Message) InHead() bool { return m.state == atHead }

// Interim returns the number of bytes of the interim responses before the head.
func (m *Message) Interim() int64 { return m.interimSize }

// Verbatim reports whether the rest of the block is the payload, unchanged.
func (m *Message) Verbatim() bool { return m.state == atBody }

// Length returns the size of the payload that the head announces, or -1.
func (m *Message) Length() int64 {
	if m.state != atBody {
		return -1
	}
	return m.framing.Length
}

// Known reports whether the bytes that Next returned are the payload.
func (m *Message) PayloadValid() bool {
	return m.state != atHead && m.state != invalid && len(m.framing.Codings) == 0
}

// A Reader reads a stored message: its head, then its payload.
type Reader struct {
	Message
	block   io.Reader
	buffer  []byte
	unread  []byte // of the buffer
	payload []byte // payload
	ended   bool
}

// NewReader returns a Reader of the message in block, with a buffer of that
// size.
func NewReader(block io.Reader, size int) *Reader {
	return &Reader{block: block, buffer: make([]byte, size)}
}

// ReadHead reads as far as the payload and returns [Message.Head].
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

// Read reads the payload. The error is [io.ErrUnexpectedEOF] if the chunks are
// malformed or end before the last one.
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
