package gateway

import (
	"errors"
	"net/http"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/guard"
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
		x.fail(status, "The server has no such object", err.Error())
	case status == http.StatusBadRequest:
		x.fail(status, "The URL cannot be retrieved", err.Error())
	case fault != fetch.Canceled: // otherwise the client has closed the connection
		x.fail(status, "The URL could not be retrieved", err.Error())
	}
}

// isMetadata reports whether the policy denied the address of a metadata service
// of a cloud.
func isMetadata(err error) bool {
	var r *fetch.Refusal
	return errors.As(err, &r) && r.Rule == "address of a metadata service"
}
