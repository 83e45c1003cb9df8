package mirror

import (
	"bytes"
	"sync"

	"github.com/anyurl/fetch/fetch"
)

// recorder hears an exchange for its WARC records: of http every byte, of other
// schemes the conversation around the object.
type recorder struct {
	how       fetch.Recording
	sent, got *spool // of http

	mu    sync.Mutex // the directions are heard by different goroutines
	talk  bytes.Buffer
	fresh bool // of heads: the next line answers
	full  bool
	err   error // of a spool
}

// maxTalk bounds a conversation, in bytes.
const maxTalk = 64 << 10

// listen makes what hears an exchange, or deaf ears where no WARC is written.
func (m *mirror) listen(s fetch.Scheme) *recorder {
	r := &recorder{}
	if m.WARC == nil {
		return r
	}
	if r.how = s.Mirror.Record; r.how == fetch.RecordWire {
		r.sent, r.got = &spool{m: m}, &spool{m: m}
	}
	return r
}

func (r *recorder) trace() *fetch.Trace {
	switch r.how {
	case fetch.RecordPlan:
		return nil
	case fetch.RecordWire:
		return &fetch.Trace{
			Sent:  func(p []byte) { r.write(r.sent, p) },
			Got:   func(p []byte) { r.write(r.got, p) },
			Again: func() { r.sent.free(); r.got.free() },
		}
	}
	return &fetch.Trace{Sent: func(p []byte) { r.hear("> ", p) }, Got: func(p []byte) { r.hear("< ", p) }}
}

func (r *recorder) write(s *spool, p []byte) {
	if _, err := s.Write(p); err != nil {
		r.mu.Lock()
		r.err = err
		r.mu.Unlock()
	}
}

func (r *recorder) hear(who string, p []byte) {
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
		r.sent.free()
		r.got.free()
	}
}
