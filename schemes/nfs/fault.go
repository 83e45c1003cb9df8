package nfs

import (
	"errors"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/oncrpc"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// The status codes of NFS and MOUNT that the driver checks.
const (
	statusPerm      = 1
	statusNoEntry   = 2
	statusAccess    = 13
	statusNotDir    = 20
	statusStale     = 70
	statusBadHandle = 10001
	statusNotSupp   = 10004
)

// statuses maps status codes to descriptions and classes of errors. All other
// codes are fetch.Denied.
var statuses = map[uint32]struct {
	text  string
	fault fetch.Fault
}{
	statusPerm:      {"operation not permitted", fetch.Denied},
	statusNoEntry:   {"no such file or directory", fetch.NotFound},
	5:               {"input/output error", fetch.TryLater},
	statusAccess:    {"permission denied", fetch.Denied},
	statusNotDir:    {"not a directory", fetch.NotFound},
	21:              {"is a directory", fetch.Denied},
	22:              {"invalid argument", fetch.Denied},
	63:              {"file name too long", fetch.BadURL},
	statusStale:     {"stale file handle", fetch.TryLater},
	statusBadHandle: {"invalid file handle", fetch.Denied},
	statusNotSupp:   {"operation not supported", fetch.Unsupported},
	10006:           {"error of the server", fetch.TryLater},
	10008:           {"file is temporarily unavailable", fetch.TryLater},
}

// A statusError is an error that the server reported.
type statusError struct {
	error
	code uint32
}

func (e *statusError) Unwrap() error { return e.error }

// newStatusError returns the error for a status code that is not zero.
func newStatusError(code uint32) error {
	s := statuses[code]
	if s.fault == 0 {
		s.text, s.fault = "error", fetch.Denied
	}
	return &statusError{s.fault.Errorf("server replied: %s (%d)", s.text, code), code}
}

// statusOf returns the status code in err, or zero.
func statusOf(err error) uint32 {
	var s *statusError
	if errors.As(err, &s) {
		return s.code
	}
	return 0
}

// isRejected reports whether the server rejected an RPC call, or returned a
// status instead of a result. The connection is then still usable.
func isRejected(err error) bool {
	var r *oncrpc.Rejection
	return errors.As(err, &r) || statusOf(err) != 0
}

// needsReservedPort reports whether the server may reject the request because
// the local port is not reserved for privileged processes.
func needsReservedPort(err error) bool {
	return isUnauthorized(err) || statusOf(err) == statusPerm || statusOf(err) == statusAccess
}

// isUnavailable reports whether the server does not have the procedure of a call.
func isUnavailable(err error) bool {
	var r *oncrpc.Rejection
	return errors.As(err, &r) && (r.Status == 1 || r.Status == 3)
}

// isUnauthorized reports whether the server rejected the credential or the port
// of a call.
func isUnauthorized(err error) bool {
	var r *oncrpc.Rejection
	return errors.As(err, &r) && r.Auth != 0
}

// wireFault classifies an error of the connection, a malformed message or a
// rejected call.
func wireFault(err error) error {
	var r *oncrpc.Rejection
	switch {
	case errors.As(err, &r) && r.Auth != 0:
		return fetch.Denied.With(err)
	case errors.As(err, &r):
		return fetch.Unsupported.With(err)
	}
	return sessions.MessageFault(err, oncrpc.ErrMalformed)
}
