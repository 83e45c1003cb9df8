// Package cdp is a client of the Chrome DevTools Protocol over a pipe, as
// Chromium speaks it with the flag --remote-debugging-pipe. Messages are JSON
// objects, each followed by a NUL byte.
package cdp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// MaxMessage is the maximum size of a reply, and maxEvent that of an event, in bytes.
// Longer messages are discarded, because a page can influence the messages of its
// browser. An event can contain the body of a request.
const (
	MaxMessage = 32 << 20
	maxEvent   = 4 << 20
)

// replyStart is the start of each reply of Chromium.
const replyStart = `{"id":`

// An Event is a message of the browser that answers no call.
type Event struct {
	Session string // session of the page, or "" for the browser
	Method  string
	Params  json.RawMessage
}

// Decode decodes the parameters of the event into v. It leaves v unchanged if
// the parameters have another form.
func (e Event) Decode(v any) { json.Unmarshal(e.Params, v) }

// An Error is the error that the browser returned for a call.
type Error struct {
	Method  string `json:"-"`
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error returns the method and the message of the browser.
func (e *Error) Error() string { return fmt.Sprintf("cdp: %s: %s (%d)", e.Method, e.Message, e.Code) }

// ErrClosed means that the browser has closed the connection.
var ErrClosed = errors.New("cdp: the browser has closed the connection")

// A Conn is a connection to a browser. It must be created with [New]. Its
// methods are safe for concurrent use.
type Conn struct {
	events func(Event)
	out    chan []byte   // messages for the browser
	ended  chan struct{} // closed when Run returns

	mu    sync.Mutex
	last  int64
	calls map[int64]chan reply // calls that wait for their reply
}

type reply struct {
	Result json.RawMessage
	Error  *Error
}

// New returns a connection. Run passes each event to the function events, in
// order. This function must not wait for a call.
func New(events func(Event)) *Conn {
	return &Conn{events: events, out: make(chan []byte), ended: make(chan struct{}), calls: map[int64]chan reply{}}
}

// Run sends messages to w and receives messages from r until r ends or fails.
// The caller then closes w. All calls that wait return ErrClosed. Run must be
// called once.
func (c *Conn) Run(r io.Reader, w io.Writer) error {
	var writer sync.WaitGroup
	writer.Go(func() { c.write(w) })
	err := c.read(bufio.NewReaderSize(r, 64<<10))
	close(c.ended)
	if closer, ok := w.(io.Closer); ok {
		closer.Close() // ends a write that the browser does not read
	}
	writer.Wait()
	return err
}

func (c *Conn) write(w io.Writer) {
	for {
		select {
		case <-c.ended:
			return
		case text := <-c.out:
			if _, err := w.Write(append(text, 0)); err != nil {
				return // the browser has ended, so that read returns too
			}
		}
	}
}

// read receives messages until r ends.
func (c *Conn) read(r *bufio.Reader) error {
	for {
		text, err := readMessage(r)
		if err != nil {
			return err
		}
		var m struct {
			ID        int64
			SessionID string
			Method    string
			Params    json.RawMessage
			reply
		}
		if text == nil || json.Unmarshal(text, &m) != nil {
			continue
		}
		if m.ID == 0 {
			c.events(Event{m.SessionID, m.Method, m.Params})
			continue
		}
		c.mu.Lock()
		waiting := c.calls[m.ID]
		delete(c.calls, m.ID)
		c.mu.Unlock()
		if waiting != nil {
			waiting <- m.reply
		}
	}
}

// readMessage reads the next message. It returns nil for a message that is too long.
func readMessage(r *bufio.Reader) (text []byte, err error) {
	tooLong, limit := false, maxEvent
	for {
		part, err := r.ReadSlice(0)
		if len(text) == 0 && bytes.HasPrefix(part, []byte(replyStart)) {
			limit = MaxMessage
		}
		if len(text)+len(part) > limit {
			text, tooLong = nil, true
		}
		if !tooLong {
			text = append(text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return nil, err
		case tooLong:
			return nil, nil
		default:
			return text[:len(text)-1], nil
		}
	}
}

// Call calls a method of the browser, or of the page with the given session.
// The value params is encoded as its parameters, and the reply is decoded into
// result. Both may be nil. The error is an *Error if the browser rejected the
// call.
func (c *Conn) Call(ctx context.Context, session, method string, params, result any) error {
	answer := make(chan reply, 1)
	c.mu.Lock()
	c.last++
	id := c.last
	c.calls[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.calls, id)
		c.mu.Unlock()
	}()
	text, err := json.Marshal(struct {
		ID        int64  `json:"id"`
		SessionID string `json:"sessionId,omitempty"`
		Method    string `json:"method"`
		Params    any    `json:"params,omitempty"`
	}{id, session, method, params})
	if err != nil {
		return fmt.Errorf("cdp: %s: %w", method, err)
	}
	select {
	case c.out <- text:
	case <-ctx.Done():
		return fmt.Errorf("cdp: %s: %w", method, context.Cause(ctx))
	case <-c.ended:
		return ErrClosed
	}
	select {
	case a := <-answer:
		if a.Error != nil {
			a.Error.Method = method
			return a.Error
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(a.Result, result)
	case <-ctx.Done():
		return fmt.Errorf("cdp: %s: %w", method, context.Cause(ctx))
	case <-c.ended:
		return ErrClosed
	}
}

// Ended returns a channel that is closed when the browser has closed the
// connection.
func (c *Conn) Ended() <-chan struct{} { return c.ended }
