package smb

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/cloudsoda/go-smb2"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// moreProcessing is the status of a login that is not complete.
const moreProcessing = 0xc0000016

// Status codes with a meaning of their own.
const (
	stoppedOnSymlink = 0x8000002d
	accessDenied     = 0xc0000022
)

// statuses contains the name and the error class of status codes ([MS-ERREF]
// section 2.3.1). All others have the class Denied.
var statuses = map[uint32]struct {
	name  string
	fault fetch.Fault
}{
	stoppedOnSymlink: {"symbolic link in the path, which is not followed", fetch.Denied},
	0xc000000f:       {"no such file", fetch.NotFound},
	0xc0000011:       {"end of file", fetch.Truncated},
	accessDenied:     {"access denied", fetch.Denied},
	0xc0000033:       {"invalid name", fetch.NotFound},
	0xc0000034:       {"name not found", fetch.NotFound},
	0xc0000039:       {"invalid path", fetch.NotFound},
	0xc000003a:       {"path not found", fetch.NotFound},
	0xc000003b:       {"invalid path", fetch.NotFound},
	0xc0000043:       {"file is in use", fetch.TryLater},
	0xc0000054:       {"file is locked", fetch.TryLater},
	0xc0000056:       {"file is being deleted", fetch.NotFound},
	0xc0000064:       {"unknown user", fetch.Auth},
	0xc000006a:       {"wrong password", fetch.Auth},
	0xc000006d:       {"wrong user name or password", fetch.Auth},
	0xc000006e:       {"account is restricted", fetch.Auth},
	0xc000006f:       {"login at this time is not allowed", fetch.Auth},
	0xc0000070:       {"login from this machine is not allowed", fetch.Auth},
	0xc0000071:       {"password has expired", fetch.Auth},
	0xc0000072:       {"account is disabled", fetch.Auth},
	0xc000009a:       {"not enough resources", fetch.TryLater},
	0xc00000ba:       {"is a directory", fetch.Denied},
	0xc00000bb:       {"not supported", fetch.Unsupported},
	0xc00000be:       {"network path not found", fetch.NotFound},
	0xc00000ca:       {"network access denied", fetch.Denied},
	0xc00000cc:       {"no such share", fetch.NotFound},
	0xc00000d0:       {"too many connections", fetch.TryLater},
	0xc0000103:       {"not a directory", fetch.NotFound},
	0xc000011f:       {"too many open files", fetch.TryLater},
	0xc000015b:       {"this type of login is not allowed", fetch.Auth},
	0xc0000193:       {"account has expired", fetch.Auth},
	0xc0000203:       {"session has ended", fetch.Connect},
	0xc0000205:       {"not enough resources", fetch.TryLater},
	0xc0000224:       {"password must be changed", fetch.Auth},
	0xc0000234:       {"account is locked", fetch.Auth},
	0xc0000257:       {"the path is on another server (DFS), which is not followed", fetch.BadReferral},
	0xc000035c:       {"session has expired", fetch.Connect},
}

// statusError returns the error for a status code of the server.
func statusError(code uint32) error {
	s, ok := statuses[code]
	if !ok {
		return fetch.Denied.Errorf("server replied with the status %#x", code)
	}
	return s.fault.Errorf("server replied: %s (%#x)", s.name, code)
}

// fault classifies an error of the library. The argument below is the error of
// the guard, if any. After an error that is no reply of the server, the session
// cannot be used again.
func (s *session) fault(err, below error) error {
	if err == nil {
		return nil
	}
	if status := replied(err); status != nil {
		if fetch.FaultOf(status) == fetch.Connect {
			s.Break()
		}
		if s.anonymous && isDenial(err) {
			return sessions.NeedLogin(fetch.Auth, fetch.Auth.Errorf("access denied without a login"))
		}
		return status
	}
	s.Break()
	var transport *smb2.TransportError
	var invalid *smb2.InvalidResponseError
	var internal *smb2.InternalError
	var path *os.PathError
	switch {
	case s.expired.Load():
		return fetch.Timeout.Errorf("server did not answer within %v", sessions.ReplyTimeout)
	case below != nil:
		err = below
	case errors.As(err, &transport):
		err = transport.Err
	case errors.As(err, &invalid):
		return fetch.Protocol.Errorf("%s", tty.Escape(invalid.Message))
	case errors.As(err, &internal):
		return fetch.Protocol.Errorf("%s", tty.Escape(internal.Message))
	}
	switch fault := fetch.FaultOf(err); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fetch.Connect.Errorf("server closed the connection")
	case errors.Is(err, context.Canceled):
		return fetch.Connect.Errorf("connection was closed")
	case errors.As(err, &path): // of a remote procedure call
		return fetch.Denied.Errorf("server: %s", tty.Escape(path.Err.Error()))
	case fault != fetch.Internal:
		return err
	}
	return fetch.Connect.Errorf("connection failed: %s", tty.Escape(err.Error()))
}

// replied returns the error for a status that the server has sent, or nil if err
// has another cause.
func replied(err error) error {
	var status *smb2.ResponseError
	switch {
	case errors.As(err, &status):
		return statusError(status.Code)
	case errors.Is(err, smb2.ErrRequestNotAccepted):
		return statusError(0xc00000d0)
	case errors.Is(err, os.ErrNotExist):
		return statusError(0xc0000034)
	case errors.Is(err, os.ErrPermission):
		return statusError(accessDenied)
	}
	return nil
}

// isDenial reports whether the server denies access.
func isDenial(err error) bool {
	var status *smb2.ResponseError
	return errors.Is(err, os.ErrPermission) || errors.As(err, &status) && status.Code == 0xc00000ca
}

// loginFault returns the error of a login. If the server has sent a status, it
// is the reason.
func (s *session) loginFault(err error, user string) error {
	fault := fetch.FaultOf(err)
	if last := s.guard.lastSetup(); last.status != 0 && last.status != moreProcessing && !s.expired.Load() {
		if err = statusError(last.status); last.status == accessDenied {
			err = fetch.Auth.Errorf("access denied")
		}
		fault = fetch.FaultOf(err)
	}
	s.Break()
	if fault == fetch.Connect && s.guard.negotiated() == 0 {
		return fetch.Connect.Errorf("%w: it may support only SMB 1", err)
	}
	if fault != fetch.Auth {
		return err
	}
	if user == "" {
		user = "an anonymous user"
	}
	return sessions.NeedLogin(fetch.Auth, fetch.Auth.Errorf("server rejected the login of %s: %w", user, err))
}
