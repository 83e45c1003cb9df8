package warc

import (
	"io"

	"github.com/anyurl/fetch/fetch"
)

// message reads the block of an http message: its head, then its entity with
// the transfer coding removed.
type message struct {
	block  io.Reader
	entity entity
	buffer []byte
	rest   []byte // of the block, read and not looked at
	ready  []byte // of the entity
	ended  bool
}

func newMessage(block io.Reader, buffer int) *message {
	return &message{block: block, buffer: make([]byte, buffer)}
}

// head reads as far as the entity, and returns the head with its blank line.
// A block that ends before that has the head that it has.
func (m *message) head() ([]byte, error) {
	for m.entity.state == atHead && !m.ended {
		if err := m.fill(); err != nil {
			return nil, err
		}
		for len(m.rest) > 0 && m.entity.state == atHead {
			m.step()
		}
	}
	return m.entity.head[:m.entity.line], nil
}

func (m *message) fill() error {
	n, err := m.block.Read(m.buffer)
	m.rest = m.buffer[:n]
	if err == io.EOF {
		m.ended, err = true, nil
	}
	return err
}

func (m *message) step() {
	n, payload := m.entity.next(m.rest)
	m.rest, m.ready = m.rest[n:], payload
}

// Read reads the entity. A block whose chunks are malformed, or end before
// the last one, is Truncated.
func (m *message) Read(p []byte) (int, error) {
	if _, err := m.head(); err != nil {
		return 0, err
	}
	for len(m.ready) == 0 {
		switch {
		case len(m.rest) > 0:
			m.step()
		case !m.ended:
			if err := m.fill(); err != nil {
				return 0, err
			}
		case m.entity.state == atBody || m.entity.state == atEnd || m.entity.state == atHead:
			return 0, io.EOF
		default:
			if m.ready = m.entity.end(); len(m.ready) == 0 {
				return 0, fetch.Truncated.With(io.ErrUnexpectedEOF)
			}
		}
	}
	n := copy(p, m.ready)
	m.ready = m.ready[n:]
	return n, nil
}

// HTTPHead reads the head of an http answer up to its blank line, which is
// included; interim answers (1xx) before it are left out. It is what a revisit
// repeats. An answer that ends early has the head that it has.
func HTTPHead(answer io.Reader) ([]byte, error) { return newMessage(answer, 4<<10).head() }

// httpHead reads the head of an http answer.
func httpHead(block io.Reader) (status int, fields fetch.Header, err error) {
	head, err := newMessage(block, 4<<10).head()
	if err != nil {
		return 0, nil, err
	}
	status, fields = parseHead(head)
	return status, fields, nil
}
