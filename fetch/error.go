package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/anyurl/fetch/uri"
)

// An Error tells what was being done to which URL when it went wrong. Every
// error of a Client and of a Response's Body is one; it is wrapped once, and
// Fault tells its class.
type Error struct {
	Op         string        // what was being done: "get", "dial", "read", "redirect"
	URL        string        // of the hop that failed; secrets in it are masked
	Code       int           // the server's own number, or zero
	RetryAfter time.Duration // how long the server asked to be left alone, or zero
	Err        error         // the cause; a Fault stands in its chain
}

// Error returns operation, URL and cause in one line. Secrets in URLs are
// masked, see [uri.Redact].
func (e *Error) Error() string {
	where := strings.TrimSpace(e.Op + " " + e.URL)
	if where == "" { // a driver's, on its way
		return uri.Redact(e.Err.Error())
	}
	return uri.Redact(where + ": " + e.Err.Error())
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the Fault of e, also where the chain holds
// none and FaultOf had to tell it from an error of the system.
func (e *Error) Is(target error) bool {
	f, ok := target.(Fault)
	return ok && FaultOf(e.Err) == f
}

// ErrPastEnd is in the chain of an error if the server has no byte of
// [Request.Range] and does not report the size of the object.
var ErrPastEnd = errors.New("the object ends before the range")

// Errorf is a Fault with a message: its text is the message alone, and
// errors.Is finds the Fault. A %w in format is wrapped as by fmt.Errorf.
func (f Fault) Errorf(format string, args ...any) error {
	return &faultError{f, fmt.Errorf(format, args...)}
}

// With returns err with f as its class; nil stays nil.
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

// FaultOf returns the class of err: the outermost Fault in its chain or, for
// errors of the system and the standard library, the one they amount to. It
// returns zero for nil and Internal for an error that nobody classed.
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
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
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
	return errors.As(err, &op) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// Retryable reports whether the same request may succeed when it is made
// again: by the class of err or, for a name, by what the resolver says.
func Retryable(err error) bool {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return dns.IsTemporary || dns.IsTimeout
	}
	return FaultOf(err).retryable()
}
