package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/tty"
	"github.com/anyurl/fetch/uri"
)

// exitCodes are stable for ever: scripts test them.
var exitCodes = map[fetch.Fault]int{
	fetch.Internal:    1,
	fetch.Usage:       2,
	fetch.BadURL:      2,
	fetch.NeedQuery:   2,
	fetch.Local:       3,
	fetch.Exists:      3,
	fetch.InUse:       3,
	fetch.DiskFull:    3,
	fetch.DNS:         4,
	fetch.Connect:     4,
	fetch.Timeout:     4,
	fetch.TLS:         5,
	fetch.Auth:        6,
	fetch.Protocol:    7,
	fetch.NotFound:    8,
	fetch.TryLater:    8,
	fetch.Denied:      8,
	fetch.BadPort:     9,
	fetch.BadAddress:  9,
	fetch.BadReferral: 9,
	fetch.TooLarge:    10,
	fetch.Bomb:        10,
	fetch.Loop:        10,
	fetch.Truncated:   11,
	fetch.Mismatch:    11,
	fetch.Unsupported: 12,
	fetch.Canceled:    130,
}

// mixed is the exit code of a batch whose failures differ.
const mixed = 13

// A said error has been reported already; only its code is left.
type said struct{ code int }

func (s said) Error() string { return fmt.Sprintf("exit %d", s.code) }

// exit reports err, unless that was done, and returns the exit code.
func (a *app) exit(err error) int {
	var done said
	switch {
	case err == nil:
		return 0
	case errors.As(err, &done):
		return done.code
	}
	return a.report(err, nil)
}

// report says err of a job.
func (j *job) report(err error) int { return j.app.report(err, j) }

// report writes err to standard error and returns its exit code; j may be nil.
func (a *app) report(err error, j *job) int {
	code := a.codeOf(err)
	if code == 141 {
		return code // whoever read us has gone, and wants no word
	}
	if a.flags.errorJSON {
		a.reportJSON(err, j)
		return code
	}
	if a.flags.silent && !a.flags.showError {
		return code
	}
	where := ""
	if j != nil && j.line > 0 {
		where = fmt.Sprintf("line %d: ", j.line)
	}
	text := fmt.Sprintf("fetch: %s%s\n", where, plain(err.Error()))
	if option := a.remedy(err); option != "" {
		text += fmt.Sprintf("fetch: to allow it: %s\n", tty.Escape(option))
	}
	io.WriteString(a.stderr, text) // at once: others may say something too
	return code
}

func (a *app) codeOf(err error) int {
	var by stopped
	switch {
	case errors.As(context.Cause(a.ctx), &by):
		return 128 + int(by.signal)
	case errors.Is(err, errPipe):
		return 141
	}
	code, ok := exitCodes[fetch.FaultOf(err)]
	if !ok {
		return 1
	}
	return code
}

// errPipe: the reader of standard output has gone.
var errPipe = syscall.EPIPE

// errorRecord is one line of --error-json.
type errorRecord struct {
	Kind      string `json:"kind"`
	Op        string `json:"op,omitempty"`
	URL       string `json:"url,omitempty"`
	Code      int    `json:"code,omitempty"`
	Exit      int    `json:"exit"`
	Retryable bool   `json:"retryable"`
	Attempt   int    `json:"attempt,omitempty"`
	Line      int    `json:"line,omitempty"`
	Message   string `json:"message"`
	Override  string `json:"override,omitempty"`
}

func (a *app) reportJSON(err error, j *job) {
	r := errorRecord{Kind: fetch.FaultOf(err).String(), Exit: a.codeOf(err), Message: uri.Redact(err.Error())}
	r.Retryable = fetch.Retryable(err)
	if j != nil {
		r.Line = j.line
		if n := j.attempts(); j.begun > 0 || n > 1 { // else no request was made, perhaps
			r.Attempt = n
		}
	}
	var e *fetch.Error
	if errors.As(err, &e) {
		r.Op, r.URL, r.Code = e.Op, e.URL, e.Code
	}
	r.Override = a.remedy(err)
	encode(a.stderr, r)
}

// note says something to a person.
func (a *app) note(format string, args ...any) {
	if !a.flags.silent {
		fmt.Fprintf(a.stderr, "fetch: %s\n", plain(fmt.Sprintf(format, args...)))
	}
}

// terminal reports whether what is written to f ends on one.
func terminal(f any) bool {
	switch f := f.(type) {
	case *os.File:
		return isTerminal(f)
	case *slot:
		return f.o.terminal
	case *bars: // which are shown on one alone
		return true
	}
	return false
}
