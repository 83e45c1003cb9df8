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
	how       fetch.Recording
	sent, got *archive.Spool // of http

	mu    sync.Mutex // each direction has a goroutine of its own
	talk  bytes.Buffer
	fresh bool // of RecordReplies: the next line is a reply
	full  bool
	err   error // of a spool
}

// maxTalk bounds a conversation, in bytes.
const maxTalk = 64 << 10

func (r *recorder) trace() *fetch.Trace {
	switch r.how {
	case fetch.RecordPlan:
		return nil
	case fetch.RecordWire:
		return &fetch.Trace{
			Sent:     func(p []byte) { r.write(r.sent, p) },
			Received: func(p []byte) { r.write(r.got, p) },
			Restart:  func() { r.sent.Free(); r.got.Free() },
		}
	}
	return &fetch.Trace{Sent: func(p []byte) { r.line("> ", p) }, Received: func(p []byte) { r.line("< ", p) }}
}

func (r *recorder) write(s *archive.Spool, p []byte) {
	if _, err := s.Write(p); err != nil {
		r.mu.Lock()
		r.err = err
		r.mu.Unlock()
	}
}

// line keeps lines that the client sent, who is "> ", or the server, "< ".
func (r *recorder) line(who string, p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	answer := who == "< "
	if answer && (r.how == fetch.RecordSent || r.how == fetch.RecordReplies && !r.fresh) || r.full {
		return
	}
	r.fresh = !answer
	for line := range bytes.Lines(p) {
		if r.talk.Len()+len(line) > maxTalk {
			r.full = true
			return
		}
		r.talk.WriteString(who)
		r.talk.Write(bytes.TrimRight(line, "\r\n"))
		r.talk.WriteString("\r\n")
		if answer && r.how == fetch.RecordReplies {
			return
		}
	}
}

// failed tells what became of the bytes that were to be recorded.
func (r *recorder) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *recorder) free() {
	if r.sent != nil {
		r.sent.Free()
		r.got.Free()
	}
}
