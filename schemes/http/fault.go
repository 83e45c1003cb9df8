package http

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/http1"
	"github.com/anyurl/fetch/internal/httpauth"
)

// statusFault classes a status of RFC 9110 15.5 and 15.6. 522 and 524 are what
// proxies in front of a server say of its silence.
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

// maxRetryAfter bounds how long a server can make us wait.
const maxRetryAfter = 10 * time.Minute

// statusError is the error for a status of 400 and above. The text is ours:
// the server's reason phrase goes to nobody's terminal.
func statusError(code int, h fetch.Header, now time.Time) error {
	text := http.StatusText(code)
	if text == "" {
		text = "status of no meaning"
	}
	err := statusFault(code).Errorf("server answered %d %s", code, text)
	switch code {
	case 416:
		if !hasField(h, "Content-Range") {
			err = pastEnd{err}
		}
	case 401:
		err = loginRemedy(err, h.Values("WWW-Authenticate"), fetch.OverrideLogin, OverrideAuth)
	case 407:
		err = loginRemedy(err, h.Values("Proxy-Authenticate"), fetch.OverrideProxyLogin, fetch.OverrideProxyAuth)
	}
	return &fetch.Error{Code: code, RetryAfter: retryAfter(h.Get("Retry-After"), now), Err: err}
}

// pastEnd is an error that is [fetch.ErrPastEnd].
type pastEnd struct{ error }

func (e pastEnd) Unwrap() error      { return e.error }
func (pastEnd) Is(target error) bool { return target == fetch.ErrPastEnd }

// loginRemedy returns err with the setting that answers challenges. The setting
// is digest if the server offers Digest without Basic, and otherwise basic.
func loginRemedy(err error, challenges []string, basic, digest fetch.OverrideKind) error {
	kind := basic
	if httpauth.OnlyDigest(httpauth.Parse(challenges)) {
		kind = digest
	}
	return &fetch.Remedy{Err: err, Override: fetch.Override{Kind: kind}}
}

// retryAfter reads seconds or a date (RFC 9110 10.2.3); what is past or
// unreadable is zero.
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

// requestFault classes what RoundTrip returned.
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
	case connectionLost(text):
		return fetch.Connect.With(err)
	case strings.Contains(text, "response headers exceeded"), strings.Contains(text, "header list larger"):
		return fetch.TooLarge.Errorf("response head larger than %d bytes", http1.MaxHead)
	}
	return fetch.Protocol.Errorf("%s", printable(err))
}

// bodyFault classes what reading a body returned. What is lost may be read on
// from there.
func bodyFault(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fetch.FaultOf(cause).With(cause)
	}
	switch f := fetch.FaultOf(err); {
	case f == fetch.Connect, f == fetch.Internal && (connectionLost(err.Error()) || strings.Contains(err.Error(), "stream error")):
		return fetch.Truncated.With(err)
	case f != fetch.Internal:
		return f.With(err)
	case isTooLarge(err):
		return fetch.TooLarge.With(err)
	}
	return fetch.Protocol.Errorf("%s", printable(err))
}

// isTooLarge reports whether a message exceeds a limit of HTTP/1.
func isTooLarge(err error) bool {
	var e *http1.Error
	return errors.As(err, &e) && e.TooLarge
}

// lost tells, of the errors of net/http that have no type, those that say
// that the connection went away.
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

// plain is the text of err without its control characters, cut short: errors
// of net/http quote the server.
func printable(err error) string {
	text := strconv.QuoteToASCII(err.Error())
	text = strings.TrimPrefix(strings.ReplaceAll(text[1:len(text)-1], `\"`, `"`), "net/http: HTTP/1.x transport connection broken: ")
	if len(text) > 200 {
		text = text[:200] + "..."
	}
	return text
}
