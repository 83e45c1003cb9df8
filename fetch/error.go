package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/uri"
)

// An Error records an error with the operation and the URL that caused it. All
// requests of a Client, and reads from the Body of a Response, return only
// errors of this type. If a driver returns an Error, the Client sets its empty
// fields and does not wrap it in another Error. [FaultOf] returns the class of
// an Error.
type Error struct {
	Op         string        // the failed operation, such as "get", "read" or "redirect"
	URL        string        // the URL that failed, with secrets masked
	Code       int           // status code of the server, or zero
	RetryAfter time.Duration // minimum time before a retry, as the server requested it, or zero
	Err        error         // the cause, which has a Fault in its chain
}

// maxCause is the maximum length of the text of a cause, in characters. Servers
// supply parts of it, such as the names in a certificate. Programs store the text
// for each URL that fails.
const maxCause = 1000

// Error returns the operation, the URL and the cause as one line of text. It
// masks secrets in URLs by [uri.Redact], and truncates the text of the cause to
// 1,000 characters.
func (e *Error) Error() string {
	cause := "unknown error"
	if e.Err != nil {
		cause = e.Err.Error()
	}
	where := strings.TrimSpace(e.Op + " " + e.URL)
	if where == "" { // an error that a driver returned
		return tty.Clip(uri.Redact(cause), maxCause)
	}
	return uri.Redact(where) + ": " + tty.Clip(uri.Redact(cause), maxCause)
}

// Unwrap returns the cause of the error.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the Fault of the error, as returned by
// [FaultOf].
func (e *Error) Is(target error) bool {
	f, ok := target.(Fault)
	return ok && FaultOf(e.Err) == f
}

// ErrPastEnd reports that the object ends before the first byte of
// [Request.Range]. A driver returns it only if the server does not report the
// size of the object.
var ErrPastEnd = errors.New("the object ends before the range")

// Errorf formats an error and adds the class f to it. The text does not contain
// the name of the class. Errorf wraps the operands of %w verbs like fmt.Errorf.
func (f Fault) Errorf(format string, args ...any) error {
	return &faultError{f, fmt.Errorf(format, args...)}
}

// With adds the class f to an error without changing its text. It returns nil
// if err is nil.
func (f Fault) With(err error) error {
	if err == nil {
		return nil
	}
	return &faultError{f, err}
}

type faultError struct {
	fault Fault
	err   error
}

func (e *faultError) Error() string   { return e.err.Error() }
func (e *faultError) Unwrap() []error { return []error{e.fault, e.err} }

// FaultOf returns the class of an error, which is the outermost Fault in its
// chain. If the chain has no Fault, FaultOf derives the class from known errors
// of the system and the standard library. It returns zero for nil and Internal
// for an unknown error.
func FaultOf(err error) Fault {
	if err == nil {
		return 0
	}
	var f Fault
	if errors.As(err, &f) {
		return f
	}
	return systemFault(err)
}

// LocalError wraps an error of a local file or folder in [DiskFull] or [Local],
// unless it already wraps a Fault. If err is nil, LocalError returns nil.
func LocalError(err error) error {
	var f Fault
	switch {
	case err == nil || errors.As(err, &f):
		return err
	case isDiskFull(err):
		return DiskFull.With(err)
	}
	return Local.With(err)
}

func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

func systemFault(err error) Fault {
	var dns *net.DNSError
	var timeout net.Error
	var path *fs.PathError
	switch {
	case errors.Is(err, context.Canceled):
		return Canceled
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return Timeout
	case errors.As(err, &dns):
		return DNS
	case isTLS(err):
		return TLS
	case errors.Is(err, io.ErrUnexpectedEOF):
		return Truncated
	case isDiskFull(err):
		return DiskFull
	case errors.As(err, &path):
		return Local
	case errors.As(err, &timeout) && timeout.Timeout():
		return Timeout
	case isNetwork(err):
		return Connect
	}
	return Internal
}

func isNetwork(err error) bool {
	var op *net.OpError
	known := []error{
		net.ErrClosed, io.EOF, io.ErrClosedPipe, syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNREFUSED,
		syscall.ECONNABORTED, syscall.EHOSTUNREACH, syscall.ENETUNREACH,
	}
	return errors.As(err, &op) || slices.ContainsFunc(known, func(e error) bool { return errors.Is(err, e) })
}

// Retryable reports whether a request that failed with err may succeed if it is
// sent again. The result depends on the class of the error. For a failed name
// resolution, it depends on the error of the resolver.
//
// Retryable is true if the deadline of the context has passed, because a later
// attempt can have another deadline. A loop must check ctx.Err as well.
func Retryable(err error) bool {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return dns.IsTemporary || dns.IsTimeout
	}
	return FaultOf(err).retryable()
}
