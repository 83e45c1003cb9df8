package mirror

import (
	"bytes"
	"sync"

	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/archive"
)

// A recorder stores an exchange with a server for WARC records. For HTTP, it
// stores the request and the response. For other protocols, it stores the
// commands and replies without the object.
type recorder struct {
	mode     scheme.Recording
	sent     *archive.Spool // the HTTP request
	response responseRecorder

	mu            sync.Mutex // protects the following fields, because each direction has a goroutine
	conversation  bytes.Buffer
	replyExpected bool // with RecordReplies, the next line from the server is a reply
	full          bool
	err           error // first error of a write to sent or response
}

// maxConversation is the maximum size of the recorded commands and replies, in
// bytes.
const maxConversation = 64 << 10

func (r *recorder) trace() *trace.Trace {
	switch r.mode {
	case scheme.RecordPlan:
		return nil
	case scheme.RecordWire:
		return &trace.Trace{
			Sent:     func(p []byte) { _, err := r.sent.Write(p); r.keepError(err) },
			Received: func(p []byte) { r.keepError(r.response.write(p)) },
			Restart:  func() { r.sent.Free(); r.response.reset() },
		}
	}
	return &trace.Trace{
		Sent:     func(p []byte) { r.writeLines("sent", p) },
		Received: func(p []byte) { r.writeLines("received", p) },
	}
}

func (r *recorder) keepError(err error) {
	if err != nil {
		r.mu.Lock()
		r.err = err
		r.mu.Unlock()
	}
}

// writeLines appends lines to the recorded conversation. Each line becomes a
// header field with the name "sent" or "received".
func (r *recorder) writeLines(field string, p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	answer := field == "received"
	if answer && (r.mode == scheme.RecordSent || r.mode == scheme.RecordReplies && !r.replyExpected) || r.full {
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
		if answer && r.mode == scheme.RecordReplies {
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

// writeError returns the first error that occurred while writing the exchange
// to disk.
func (r *recorder) writeError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *recorder) free() {
	if r.sent != nil {
		r.sent.Free()
		r.response.reset()
	}
}
