package http

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/internal/wire/httpauth"
)

// statusFault returns the fetch.Fault for an HTTP status code (RFC 9110 15.5
// and 15.6). Reverse proxies send 522 and 524 if their origin server does not
// respond.
func statusFault(code int) fetch.Fault {
	switch code {
	case 401, 407:
		return fetch.Auth
	case 404, 410:
		return fetch.NotFound
	case 408, 425, 429, 500, 502, 503, 504, 522, 524:
		return fetch.TryLater
	}
	return fetch.Denied
}

// maxRetryAfter is the longest delay that a server can request in a Retry-After
// field.
const maxRetryAfter = 10 * time.Minute

// statusError returns the error for a status code of 400 or above. The message
// does not contain the reason phrase, which the server controls.
func statusError(code int, h fetch.Header, now time.Time) error {
	text := http.StatusText(code)
	if text == "" {
		text = "unknown status"
	}
	err := statusFault(code).Errorf("server answered %d %s", code, text)
	switch code {
	case 416:
		if !hasField(h, "Content-Range") {
			err = pastEnd{err}
		}
	case 401:
		err = loginRemedy(err, h.Values("WWW-Authenticate"), override.Login, OverrideAuth)
	case 407:
		err = loginRemedy(err, h.Values("Proxy-Authenticate"), override.ProxyLogin, override.ProxyAuth)
	}
	return &fetch.Error{Code: code, RetryAfter: retryAfter(h.Get("Retry-After"), now), Err: err}
}

// A pastEnd is an error for which errors.Is(err, [fetch.ErrPastEnd]) returns
// true.
type pastEnd struct{ error }

func (e pastEnd) Unwrap() error      { return e.error }
func (pastEnd) Is(target error) bool { return target == fetch.ErrPastEnd }

// loginRemedy adds to err the [override.Setting] with which the user can
// authenticate. Its kind is the argument digest if the server offers only
// Digest, and the argument basic otherwise.
func loginRemedy(err error, challenges []string, basic, digest override.Kind) error {
	kind := basic
	if httpauth.OnlyDigest(httpauth.Parse(challenges)) {
		kind = digest
	}
	return override.With(err, override.Setting{Kind: kind})
}

// retryAfter parses a Retry-After field, which contains a number of seconds or
// a date (RFC 9110 10.2.3). It returns 0 for a malformed value or a date in the
// past.
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		return time.Duration(max(min(n, int64(maxRetryAfter/time.Second)), 0)) * time.Second
	} else if errors.Is(err, strconv.ErrRange) && value[0] != '-' {
		return maxRetryAfter
	}
	at, err := parseTime(value)
	if err != nil {
		return 0
	}
	return max(min(at.Sub(now), maxRetryAfter), 0)
}

// requestFault classifies an error that occurred before the response body was
// read. It wraps err in the matching fetch.Fault.
func requestFault(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fetch.FaultOf(cause).With(cause)
	}
	if f := fetch.FaultOf(err); f != fetch.Internal {
		return f.With(err)
	}
	switch text := err.Error(); {
	case isTooLarge(err):
		return fetch.TooLarge.With(err)
	case isPingTimeout(text):
		return fetch.Timeout.With(err)
	case connectionLost(text):
		return fetch.Connect.With(err)
	case strings.Contains(text, "response headers exceeded"), strings.Contains(text, "header list larger"):
		return fetch.TooLarge.Errorf("response head larger than %d bytes", http1.MaxHead)
	}
	return fetch.Protocol.Errorf("%s", printable(err))
}

// isPingTimeout reports whether an error of an HTTP/2 connection means that the
// server has not answered a PING frame. The timeout equals the timeout of an idle
// connection, so that both errors occur at the same time.
func isPingTimeout(text string) bool { return strings.Contains(text, "http2: client connection lost") }

// bodyFault classifies an error that occurred while the response body was read.
// It wraps err in the matching fetch.Fault. For a lost connection the fault is
// fetch.Truncated, so that the caller can resume the transfer.
func bodyFault(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fetch.FaultOf(cause).With(cause)
	}
	switch f := fetch.FaultOf(err); {
	case f == fetch.Internal && isPingTimeout(err.Error()):
		return fetch.Timeout.With(err)
	case f == fetch.Connect,
		f == fetch.Internal && (connectionLost(err.Error()) || strings.Contains(err.Error(), "stream error")):
		return fetch.Truncated.With(err)
	case f != fetch.Internal:
		return f.With(err)
	case isTooLarge(err):
		return fetch.TooLarge.With(err)
	}
	return fetch.Protocol.Errorf("%s", printable(err))
}

// isTooLarge reports whether err means that an HTTP/1 message exceeds a size
// limit.
func isTooLarge(err error) bool {
	var e *http1.Error
	return errors.As(err, &e) && e.TooLarge
}

// connectionLost reports whether text is a message of net/http about a lost
// connection. The types of these errors are not exported.
func connectionLost(text string) bool {
	for _, phrase := range []string{
		"http: server closed idle connection", "http: persistConn", "http: CloseIdleConnections called",
		"http2: client conn", "http2: server sent GOAWAY", "http2: Transport received", "REFUSED_STREAM",
	} {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	return false
}

// printable returns at most 200 bytes of the text of err. It escapes control
// characters, because errors of net/http contain text from the server.
func printable(err error) string {
	text := strconv.QuoteToASCII(err.Error())
	text = strings.ReplaceAll(text[1:len(text)-1], `\"`, `"`)
	text = strings.TrimPrefix(text, "net/http: HTTP/1.x transport connection broken: ")
	if len(text) > 200 {
		text = text[:200] + "..."
	}
	return text
}
