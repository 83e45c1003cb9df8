package gateway

import (
	"errors"
	"net/http"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/guard"
	"github.com/anyurl/fetch/internal/base/tty"
)

// faultStatus returns the status code for a URL that cannot be retrieved.
func faultStatus(fault fetch.Fault) int {
	switch fault {
	case fetch.BadPort, fetch.BadAddress, fetch.BadReferral:
		return http.StatusForbidden
	case fetch.NotFound:
		return http.StatusNotFound
	case fetch.BadURL, fetch.Usage, fetch.Unsupported, fetch.NeedQuery:
		return http.StatusBadRequest
	}
	return http.StatusBadGateway
}

// setStatus replaces the status code of a response with an HTTP status code,
// unless the scheme uses these codes itself.
func setStatus(resp *fetch.Response, scheme fetch.Scheme) {
	switch {
	case scheme.Traits.Web:
	case resp.Fault != nil:
		resp.Code = faultStatus(fetch.FaultOf(resp.Fault))
	default:
		resp.Code = http.StatusOK
	}
}

// liveError sends the page for a URL that cannot be retrieved.
func (x *exchange) liveError(t liveTarget, p guard.Permission, err error) {
	fault := fetch.FaultOf(err)
	status := faultStatus(fault)
	switch {
	case isMetadata(err), fault == fetch.BadAddress && x.public != nil: // the user cannot permit it
		x.fail(status, "The policy denies access to this URL", err.Error())
	case fault == fetch.BadAddress && p.Level == guard.Entered:
		x.confirm(t, err)
	case status == http.StatusForbidden && p.Level < guard.Entered && !t.raw && !t.inline:
		x.offer(t, err)
	case status == http.StatusForbidden:
		x.fail(status, "The policy denies access to this URL", err.Error())
	case status == http.StatusNotFound:
		x.failLive(t, status, "The server has no such object", err)
	case status == http.StatusBadRequest:
		x.failLive(t, status, "The URL cannot be retrieved", err)
	case fault != fetch.Canceled: // otherwise the client has closed the connection
		x.failLive(t, status, "The URL could not be retrieved", err)
	}
}

// A liveFailure is the template data of the page for a URL that could not be
// retrieved.
type liveFailure struct {
	page
	Text     string // the failure, in one sentence, or ""
	Advice   string // advice for the user, or ""
	Detail   string // the error
	Retry    string // path of the same page if the error is transient, or ""
	Archives []archiveLink
	Form     *openForm
}

// causes describes the causes of failures, with advice for the user.
var causes = map[fetch.Fault]struct{ text, advice string }{
	fetch.DNS:         {"The name of the server has no address.", "Check the spelling of the host name."},
	fetch.Connect:     {"The server could not be reached, or it closed the connection.", "The server may be down. Try again later."},
	fetch.Timeout:     {"The server did not respond in time.", "Try again later."},
	fetch.TLS:         {"The identity of the server could not be verified.", "Ask the owner of the server for its key or certificate, and compare them."},
	fetch.Auth:        {"The server requires a login.", "The program can read logins from a netrc file."},
	fetch.TryLater:    {"The server cannot respond now.", "Try again later."},
	fetch.Denied:      {"The server rejected the request.", ""},
	fetch.Truncated:   {"The transfer ended early.", "Try again."},
	fetch.Protocol:    {"The response violates the protocol.", "Another kind of server may use this port."},
	fetch.Unsupported: {"The server or this program does not support the request.", ""},
	fetch.Loop:        {"The redirects do not end.", ""},
}

// failLive sends the page for a URL that could not be retrieved, with links to
// captures of the URL in the archives of this server.
func (x *exchange) failLive(t liveTarget, status int, title string, err error) {
	if t.raw || t.inline || t.first {
		x.fail(status, title, err.Error())
		return
	}
	cause := causes[fetch.FaultOf(err)]
	data := liveFailure{page: x.newPage(title, nil), Text: cause.text, Advice: cause.advice, Detail: tty.Escape(err.Error())}
	if fetch.Retryable(err) && !isProxied(x.r) {
		data.Retry = x.r.RequestURI
	}
	for _, c := range x.archives {
		if s, err := c.choose(x.r.Context(), t.url, period{}); err == nil && s.chosen != "" {
			data.Archives = append(data.Archives, archiveLink{tty.Escape(c.Name), c.pathOf(s.chosen, formPage, t.url)})
		}
	}
	if !isProxied(x.r) {
		data.Form = x.newOpenForm(tty.Escape(t.url.WithoutUserinfo().String()))
	}
	x.w.WriteHeader(status)
	x.render("failed", data)
}

// isMetadata reports whether the policy denied the address of a metadata service
// of a cloud.
func isMetadata(err error) bool {
	var r *fetch.Refusal
	return errors.As(err, &r) && r.Rule == "address of a metadata service"
}
