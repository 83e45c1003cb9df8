// Package exchange records requests and responses, and stores them until they
// are written as WARC records.
package record

import (
	"bytes"
	"io"
	"sync"

	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/fetch/trace"
)

// A Spool stores bytes until a record is written.
type Spool interface {
	io.Writer
	Size() int64                        // number of bytes
	Reader() (*io.SectionReader, error) // returns a reader of all bytes; Free closes it
	Free()                              // removes the bytes; the Spool can then be used again
}

// A Recorder stores an exchange with a server for WARC records. For HTTP, it
// stores the request and the response. For other protocols, it stores the
// commands and replies without the object. The zero Recorder stores nothing.
type Recorder struct {
	Mode     scheme.Recording
	Sent     Spool    // the HTTP request; used only with RecordWire
	Response Response // the HTTP response; used only with RecordWire

	mu            sync.Mutex // protects the following fields; each direction runs in its own goroutine
	conversation  bytes.Buffer
	replyExpected bool // with RecordReplies, the next line from the server is a reply
	full          bool
	err           error // error of a write to Sent or Response
}

// maxConversation is the maximum size of the recorded commands and replies, in
// bytes.
const maxConversation = 64 << 10

// Trace returns hooks that record the bytes of the exchange. It returns nil if
// the Recorder stores nothing.
func (r *Recorder) Trace() *trace.Trace {
	switch r.Mode {
	case scheme.RecordPlan:
		return nil
	case scheme.RecordWire:
		return &trace.Trace{
			Messages: true,
			Sent:     func(p []byte) { _, err := r.Sent.Write(p); r.keepError(err) },
			Received: func(p []byte) { r.keepError(r.Response.write(p)) },
			Restart:  func() { r.Sent.Free(); r.Response.reset() },
		}
	}
	return &trace.Trace{
		Sent:     func(p []byte) { r.writeLines("sent", p) },
		Received: func(p []byte) { r.writeLines("received", p) },
	}
}

func (r *Recorder) keepError(err error) {
	if err != nil {
		r.mu.Lock()
		r.err = err
		r.mu.Unlock()
	}
}

// writeLines appends lines to the recorded conversation. Each line becomes a
// header field with the name "sent" or "received".
func (r *Recorder) writeLines(field string, p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	answer := field == "received"
	if answer && (r.Mode == scheme.RecordSent || r.Mode == scheme.RecordReplies && !r.replyExpected) || r.full {
		return
	}
	r.replyExpected = !answer
	for line := range bytes.Lines(p) {
		if r.conversation.Len()+len(line) > maxConversation {
			r.full = true
			return
		}
		r.conversation.WriteString(field + ": ")
		r.conversation.Write(fieldValue(line))
		r.conversation.WriteString("\r\n")
		if answer && r.Mode == scheme.RecordReplies {
			return
		}
	}
}

// fieldValue converts a line to the value of a header field. It removes the
// line break and replaces CR and NUL in the line with spaces.
func fieldValue(line []byte) []byte {
	line = bytes.ReplaceAll(bytes.TrimRight(line, "\r\n"), []byte{'\r'}, []byte{' '})
	return bytes.ReplaceAll(line, []byte{0}, []byte{' '})
}

// Conversation returns the recorded commands and replies as header fields.
func (r *Recorder) Conversation() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.conversation.Bytes()
}

// WriteError returns an error that occurred while writing the exchange to disk.
func (r *Recorder) WriteError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Free removes the stored request and response.
func (r *Recorder) Free() {
	if r.Sent != nil {
		r.Sent.Free()
		r.Response.reset()
	}
}
