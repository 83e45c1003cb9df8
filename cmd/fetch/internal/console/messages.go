package console

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/wrap"
)

// A messageRecord is the JSON object that --error-json prints for a note and
// for a line of -v.
type messageRecord struct {
	Type    string `json:"type"` // "note" or "verbose"
	Message string `json:"message"`
}

// A retryRecord is the JSON object that --error-json prints before a request is
// sent again.
type retryRecord struct {
	Type     string  `json:"type"` // always "retry"
	Kind     string  `json:"kind"` // class of the error
	URL      string  `json:"url"`
	Code     int     `json:"code,omitempty"`
	Attempt  int     `json:"attempt"`            // number of the next attempt
	Attempts int     `json:"attempts,omitempty"` // maximum number of attempts, if known
	Wait     float64 `json:"wait"`               // seconds until the next attempt
	Message  string  `json:"message"`
}

// Note prints a message for the user on standard error, unless -s is set.
func (s *Streams) Note(format string, args ...any) {
	s.NoteUnredacted(uri.Redact(fmt.Sprintf(format, args...)))
}

// A NoteWriter prints each line of a log as a note.
type NoteWriter struct{ *Streams }

func (w NoteWriter) Write(text []byte) (int, error) {
	for line := range strings.Lines(string(text)) {
		w.Note("%s", strings.TrimRight(line, "\n"))
	}
	return len(text), nil
}

// NoteUnredacted is like note, but prints secrets in text, such as a token that
// the user needs.
func (s *Streams) NoteUnredacted(text string) {
	switch {
	case s.Silent:
	case s.Log != nil:
		s.Log.Info("note", "text", text)
	case s.ErrorJSON:
		Encode(s.Stderr, messageRecord{"note", text})
	default:
		fmt.Fprintf(s.Stderr, "fetch: %s\n", tty.Escape(text))
	}
}

// PrintVerbose prints lines for -v on standard error, or in the file of
// --trace-ascii.
func (s *Streams) PrintVerbose(lines ...string) {
	var all bytes.Buffer // a single write keeps concurrent messages apart
	for _, line := range lines {
		if s.traceTime {
			line = time.Now().Format("15:04:05.000000 ") + line
		}
		switch {
		case s.Log != nil && s.traceTo == nil:
			s.Log.Debug("trace", "text", line)
		case s.ErrorJSON && s.traceTo == nil:
			Encode(&all, messageRecord{"verbose", uri.Redact(line)})
		default:
			all.WriteString(terminal.Plain(line) + "\n")
		}
	}
	if s.traceTo != nil {
		s.traceTo.Write(all.Bytes())
		return
	}
	s.Stderr.Write(all.Bytes())
}

// Trace returns a Trace that prints the notes about each request. If -v is set,
// it also prints the details.
func (s *Streams) Trace() *trace.Trace {
	t := &trace.Trace{Note: func(text string) { s.Note("%s", text) }}
	switch {
	case s.traceTo != nil:
		t.Detail = func(text string) { s.PrintVerbose("* " + text) }
	case s.Verbose:
		t.Detail = t.Note
	}
	return t
}

// NoteRetry prints a note that a request will be sent again. The number next is
// the number of the next attempt, and limit is the maximum number of attempts.
// The limit is 0 if it is unknown, because the transfer of the body failed.
func (s *Streams) NoteRetry(t wrap.Attempt, err error, next, limit int) {
	if s.Silent {
		return
	}
	if s.Log != nil {
		s.Log.Info("retry", "url", t.Request.URL.String(), "status", codeOf(t.Err), "kind", fetch.FaultOf(t.Err).String(),
			"attempt", next, "wait", t.Wait.Seconds(), "error", err)
		return
	}
	if s.ErrorJSON {
		Encode(s.Stderr, retryRecord{
			Type: "retry", Kind: fetch.FaultOf(t.Err).String(), URL: uri.Redact(t.Request.URL.String()),
			Code: codeOf(t.Err), Attempt: next, Attempts: limit, Wait: t.Wait.Seconds(), Message: uri.Redact(err.Error()),
		})
		return
	}
	wait := t.Wait.Round(100 * time.Millisecond)
	if limit == 0 {
		s.Note("%v; attempt %d in %v", err, next, wait)
		return
	}
	s.Note("%v; attempt %d of %d in %v", err, next, limit, wait)
}
