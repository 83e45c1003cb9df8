package console

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/schemes/http/doh"
	"github.com/anyurl/fetch/uri"
)

// exitCodes maps each class of errors to an exit code. Scripts depend on the
// codes, so they must not change.
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
	fetch.TryLater:    4,
	fetch.TLS:         5,
	fetch.Auth:        6,
	fetch.Protocol:    7,
	fetch.NotFound:    8,
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

const (
	MixedExit = 13       // several URLs failed with different exit codes
	pipeExit  = 128 + 13 // the reader of standard output has closed the pipe
)

// An ExitError makes the process exit with a code without printing an error
// message.
type ExitError struct{ Code int }

func (e ExitError) Error() string { return fmt.Sprintf("exit %d", e.Code) }

// A RecoverableError means that fetch recover can rebuild the database of the
// archive in the directory Dir.
type RecoverableError struct {
	Err error
	Dir string
}

func (e RecoverableError) Error() string { return e.Err.Error() }
func (e RecoverableError) Unwrap() error { return e.Err }

// A signalError is the cause of a context that was canceled by a signal such as
// SIGINT.
type signalError struct{ signal syscall.Signal }

func (s signalError) Error() string { return s.signal.String() }
func (s signalError) Unwrap() error { return fetch.Canceled }

// ExitCode returns the exit code for err.
func ExitCode(ctx context.Context, err error) int {
	var signaled signalError
	switch {
	case errors.As(context.Cause(ctx), &signaled):
		return 128 + int(signaled.signal)
	case errors.Is(err, errPipe):
		return pipeExit
	}
	code, ok := exitCodes[fetch.FaultOf(err)]
	if !ok {
		return 1
	}
	return code
}

// An ErrorSource contains the line number of a failed URL and the number of its
// requests, for use in error messages.
type ErrorSource struct {
	Line     int // line number in the input file, or 0
	Attempts int // number of requests, or 0 if there was none
}

// Report writes err to standard error and returns the exit code for err. If the
// reader of standard output has closed the pipe, report prints no message. With
// -s, it prints only errors in the use of the command, as in curl. Flags that fetch
// rejects on purpose count as such errors.
func (s *Streams) Report(ctx context.Context, err error, source ErrorSource) int {
	var silent ExitError
	if errors.As(err, &silent) {
		return silent.Code
	}
	code := ExitCode(ctx, err)
	switch {
	case code == pipeExit:
	case s.Log != nil:
		s.Log.Error("failed", "kind", fetch.FaultOf(err).String(), "exit", code, "error", err, "override", Remedy(err))
	case s.ErrorJSON:
		Encode(s.Stderr, ErrorRecordOf(err, code, source))
	case s.showError || !s.Silent || isUsage(err):
		line := ""
		if source.Line > 0 {
			line = fmt.Sprintf("line %d: ", source.Line)
		}
		text := fmt.Sprintf("fetch: %s%s\n", line, terminal.Plain(oneLine(err.Error())))
		if flag := Remedy(err); flag != "" {
			text += fmt.Sprintf("fetch: to allow it: %s\n", tty.Escape(flag))
		}
		if topic := topicOf(err, Remedy(err)); topic != "" && terminal.Is(s.Stderr) {
			text += fmt.Sprintf("fetch: more: fetch help %s\n", topic)
		}
		if recoverable := (RecoverableError{}); errors.As(err, &recoverable) {
			text += fmt.Sprintf("fetch: to create the database again: fetch recover %s\n", tty.Escape(recoverable.Dir))
		}
		io.WriteString(s.Stderr, text) // a single write keeps concurrent messages apart
	}
	return code
}

// isUsage reports whether err is an error in the use of the command.
func isUsage(err error) bool {
	_, rejected := errors.AsType[options.Rejection](err)
	return rejected || fetch.FaultOf(err) == fetch.Usage
}

// oneLine converts a message with several lines, such as the message of joined
// errors, to a single line.
func oneLine(text string) string {
	return strings.NewReplacer(":\n\t", ": ", "\n\t", "; ", "\n", "; ").Replace(strings.TrimRight(text, "\n"))
}

// An ErrorRecord is the JSON object that --error-json prints.
type ErrorRecord struct {
	Type      string `json:"type"` // always "error"
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
	Help      string `json:"help,omitempty"` // topic of fetch help that describes the flag in the message
}

// ErrorRecordOf returns the record of an error with its exit code.
func ErrorRecordOf(err error, code int, source ErrorSource) ErrorRecord {
	r := ErrorRecord{
		Type: "error", Kind: fetch.FaultOf(err).String(), Exit: code, Retryable: fetch.Retryable(err),
		Attempt: source.Attempts, Line: source.Line, Message: uri.Redact(err.Error()), Override: Remedy(err),
	}
	r.Help = topicOf(err, r.Override)
	var e *fetch.Error
	if errors.As(err, &e) {
		r.Op, r.URL, r.Code = e.Op, e.URL, e.Code
	}
	return r
}

// codeOf returns the protocol status code in an error of a server, or 0.
func codeOf(err error) int {
	if e, ok := errors.AsType[*fetch.Error](err); ok {
		return e.Code
	}
	return 0
}

// skipFlag is the hint for a certificate that is invalid. TrustFlags is the hint
// for a certificate with an unknown issuer.
const (
	skipFlag   = "-k to skip verification (insecure)"
	TrustFlags = "--cacert FILE with the certificate of its issuer, or " + skipFlag
)

// Remedy returns the flags that would avoid err, such as "--allow-port
// http:25". It returns "" if no flag would avoid err.
func Remedy(err error) string {
	var verify *tls.CertificateVerificationError
	setting := override.Of(err)
	if errors.As(err, &verify) && setting.Kind != override.ProxyTLS && setting.Kind != doh.OverrideTLS {
		var host x509.HostnameError
		var invalid x509.CertificateInvalidError
		if errors.As(err, &host) || errors.As(err, &invalid) && invalid.Reason == x509.Expired {
			return skipFlag
		}
		return TrustFlags
	}
	return OverrideFlag(setting)
}

// A Tally combines the exit codes of several URLs into one exit code.
type Tally struct {
	Code      int  // exit code of all failures, or MixedExit if they differ
	succeeded bool // reports whether at least one URL has succeeded
}

// Add adds the exit code of a URL.
func (t *Tally) Add(code int) {
	switch {
	case code == 0:
		t.succeeded = true
	case t.Code == 0 || t.Code == code:
		t.Code = code
	default:
		t.Code = MixedExit
	}
}

// Err returns the combined exit code as an error, or nil if no URL failed. If
// at least one URL succeeded, a malformed URL in the list does not cause exit
// code 2, which means wrong usage of the command.
func (t *Tally) Err() error {
	switch {
	case t.Code == 0:
		return nil
	case t.Code == exitCodes[fetch.Usage] && t.succeeded:
		return ExitError{Code: MixedExit}
	}
	return ExitError{t.Code}
}
