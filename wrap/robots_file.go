package wrap

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/robots"
	"github.com/anyurl/fetch/internal/wire/proxy"
	"github.com/anyurl/fetch/uri"
)

// maxRobotsHops is the maximum number of redirects for robots.txt (RFC 9309
// section 2.3.1.2).
const maxRobotsHops = 5

// errNoFile reports that the site does not have the requested file.
var errNoFile = errors.New("none")

// read fetches robots.txt and caps.txt of a site and stores their rules in s.
func (r *robot) read(ctx context.Context, req *fetch.Request, s *site) {
	files, age := req.Scheme().Robots, robotsAge
	err := r.open(ctx, req, files.File, func(body io.Reader) (err error) {
		s.file, err = robots.Parse(body)
		return err
	})
	if err == nil && files.Caps != "" && !s.file.Empty() {
		var caps robots.Caps
		_ = r.open(ctx, req, files.Caps, func(body io.Reader) (err error) { // an error means the defaults
			caps, err = robots.ParseCaps(body)
			return err
		})
		s.delimiter = uri.Escape(caps.Delimiter, uri.QueryChars)
		age = min(max(cmp.Or(caps.Expire, robotsAge), minRobotsAge), robotsAge)
	}
	switch {
	case ctx.Err() != nil:
		s.err = context.Cause(ctx)
		return
	case errors.Is(err, errNoFile):
		s.file = nil // may contain a part of an interrupted file
	case isLocalRejection(err):
		s.err = err
		return
	case err != nil:
		s.file, s.err, age = nil, err, failureAge
		if e, ok := errors.AsType[*fetch.Error](err); ok {
			age = min(max(age, e.RetryAfter), maxRetryAfter)
		}
	}
	s.expires = time.Now().Add(age)
}

// open fetches the file at path from the site of req and passes its body to the
// function do. It sends the request with the permissions of req and follows the
// redirects that the Policy allows. It returns errNoFile if the site does not
// have the file.
func (r *robot) open(ctx context.Context, req *fetch.Request, path string, do func(io.Reader) error) error {
	ask, err := fileRequest(req, path)
	for hop := 0; err == nil; hop++ {
		resp, asked := r.next.Do(ctx, ask)
		if asked != nil {
			if isMissing(0, asked) || hop > 0 && isLocalRejection(asked) { // the redirect target is not available
				return errNoFile
			}
			return asked
		}
		if resp.Location.IsZero() {
			defer resp.Body.Close()
			return readFile(resp, do)
		}
		resp.Body.Close()
		led, failed := ask.Redirected(resp)
		if failed != nil || hop == maxRobotsHops || !ask.Scheme().Traits.Web || !led.Scheme().Traits.Web {
			return errNoFile
		}
		ask = led
	}
	return err
}

func readFile(resp *fetch.Response, do func(io.Reader) error) error {
	switch {
	case isMissing(resp.Code, resp.Fault):
		return errNoFile
	case resp.Fault != nil:
		return &fetch.Error{Code: resp.Code, RetryAfter: retryAfter(resp.Fault), Err: resp.Fault}
	case resp.Unchanged || resp.Input != nil:
		return errNoFile
	}
	return do(resp.Body)
}

// fileRequest returns the request for a file on the site of req. It copies the
// User-Agent field. It does not copy the conditions, which apply to another
// object, or the Trace, which may record only one exchange.
func fileRequest(req *fetch.Request, path string) (*fetch.Request, error) {
	p := req.URL.Parts()
	p.Userinfo, p.HasUserinfo, p.Path = "", false, path
	p.Query, p.HasQuery, p.Fragment, p.HasFragment = "", false, "", false
	u, err := uri.Build(p)
	if err != nil {
		return nil, fetch.BadURL.With(err)
	}
	ask := req.Clone() // the copy also has the unexported fields that record redirects
	ask.URL, ask.Op = u, fetch.Get
	ask.Range, ask.IfSame, ask.IfNot, ask.Since, ask.Before = fetch.Range{}, "", "", time.Time{}, time.Time{}
	ask.Header = req.Header.Without(func(name string) bool { return !strings.EqualFold(name, "User-Agent") })
	ask.Trace, ask.NoFollow, ask.ErrorBody = nil, false, false
	return ask, nil
}

// isMissing reports whether a status code or an error means that a file does
// not exist (RFC 9309 section 2.3.1.3). An answer of a proxy says nothing about
// the file.
func isMissing(code int, err error) bool {
	var refused *proxy.RefusedError
	var login *proxy.AuthRequiredError
	if err == nil || errors.As(err, &refused) || errors.As(err, &login) {
		return false
	}
	if code = cmp.Or(code, codeOf(err)); code >= 400 {
		return code < 500 && code != http.StatusProxyAuthRequired && code != http.StatusTooManyRequests
	}
	return slices.Contains([]fetch.Fault{fetch.NotFound, fetch.Denied, fetch.Auth}, fetch.FaultOf(err))
}

// isLocalRejection reports whether an error was caused by the Policy or this
// machine, and not by a server. Such an error applies only to one request.
func isLocalRejection(err error) bool {
	return slices.Contains([]fetch.Fault{fetch.BadPort, fetch.BadAddress, fetch.BadReferral, fetch.BadURL,
		fetch.Usage, fetch.Unsupported, fetch.Local, fetch.Canceled}, fetch.FaultOf(err))
}

func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*fetch.Error](err); ok {
		return e.RetryAfter
	}
	return 0
}
