package sessions

import (
	"bufio"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
)

// Messages is a [Conn] for a protocol with binary messages, such as LDAP. An
// error in an exchange breaks the connection.
type Messages struct {
	*Conn
	In *bufio.Reader // messages of the server

	wireFault func(error) error
	timeout   time.Duration
}

// NewMessages returns a Messages with a buffer of size bytes. The function
// wireFault classifies the errors of the connection and of malformed messages.
// The timeout limits the time of one response.
func NewMessages(c *Conn, size int, timeout time.Duration, wireFault func(error) error) *Messages {
	m := &Messages{Conn: c, In: bufio.NewReaderSize(c, size), wireFault: wireFault, timeout: timeout}
	c.RequireQuiet(m.In.Buffered)
	return m
}

// SendMessage sends a message. It reports masked to the Trace in place of the
// message, as [Conn.Send] does.
func (m *Messages) SendMessage(message, masked []byte) error {
	if err := m.Send(message, masked); err != nil {
		return m.Failed(err)
	}
	m.Trace().Reached(trace.RequestSent, m.NetConn)
	return nil
}

// SendAlone is like SendMessage, for a protocol in which the server sends
// nothing between two responses.
func (m *Messages) SendAlone(message, masked []byte) error {
	if m.In.Buffered() > 0 {
		return m.Failed(fetch.Protocol.Errorf("server sent data without a request"))
	}
	return m.SendMessage(message, masked)
}

// Receive calls the function read, which reads a response or its first part.
func (m *Messages) Receive(read func() error) error {
	m.SetReplyTimeout(m.timeout)
	if err := read(); err != nil {
		return m.Failed(err)
	}
	m.MarkAnswered()
	m.Trace().Reached(trace.FirstByte, m.NetConn)
	return nil
}

// Failed breaks the connection if err is not nil, and returns the classified
// error.
func (m *Messages) Failed(err error) error {
	if err != nil {
		m.Break()
	}
	return m.wireFault(err)
}
