package mirror

import (
	"bytes"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/archive"
)

// recorder keeps an exchange for its WARC records: of http every byte, of other
// schemes the conversation around the object.
type recorder struct {
	mode           fetch.Recording
	sent, received *archive.Spool // of http

	mu            sync.Mutex // each direction has a goroutine of its own
	conversation  bytes.Buffer
	replyExpected bool // of RecordReplies: the next line is a reply
	full          bool
	err           error // of a spool
}

// maxTalk bounds a conversation, in bytes.
const maxConversation = 64 << 10

func (r *recorder) trace() *fetch.Trace {
	switch r.mode {
	case fetch.RecordPlan:
		return nil
	case fetch.RecordWire:
		return &fetch.Trace{
			Sent:     func(p []byte) { r.write(r.sent, p) },
			Received: func(p []byte) { r.write(r.received, p) },
			Restart:  func() { r.sent.Free(); r.received.Free() },
		}
	}
	return &fetch.Trace{Sent: func(p []byte) { r.writeLines("> ", p) }, Received: func(p []byte) { r.writeLines("< ", p) }}
}

func (r *recorder) write(s *archive.Spool, p []byte) {
	if _, err := s.Write(p); err != nil {
		r.mu.Lock()
		r.err = err
		r.mu.Unlock()
	}
}

// line keeps lines that the client sent, who is "> ", or the server, "< ".
func (r *recorder) writeLines(who string, p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	answer := who == "< "
	if answer && (r.mode == fetch.RecordSent || r.mode == fetch.RecordReplies && !r.replyExpected) || r.full {
		return
	}
	r.replyExpected = !answer
	for line := range bytes.Lines(p) {
		if r.conversation.Len()+len(line) > maxConversation {
			r.full = true
			return
		}
		r.conversation.WriteString(who)
		r.conversation.Write(bytes.TrimRight(line, "\r\n"))
		r.conversation.WriteString("\r\n")
		if answer && r.mode == fetch.RecordReplies {
			return
		}
	}
}

// failed tells what became of the bytes that were to be recorded.
func (r *recorder) writeError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *recorder) free() {
	if r.sent != nil {
		r.sent.Free()
		r.received.Free()
	}
}
