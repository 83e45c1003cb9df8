package download

import (
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/autoindex"
)

// maxTitlePrefix is the number of bytes of a page that withSlash reads.
const maxTitlePrefix = 16 << 10

// withSlash returns the response for the URL of req with a final slash, if resp
// is an HTML page that says that it lists this directory. Some web servers send
// the listing of a directory without a redirect. Otherwise withSlash returns
// resp, whose body can be at its end if resp is not a listing. After a redirect,
// it sends no request, because a server chose the URL.
func (j *Job) withSlash(req *fetch.Request, resp *fetch.Response) (*fetch.Response, error) {
	_, hasQuery := resp.URL.Query()
	isWeb := j.Client.Scheme(resp.URL.Scheme()).Traits.Web
	if resp.Kind != fetch.Document || !isWeb || hasQuery || len(resp.Chain) > 0 {
		return resp, nil
	}
	page, err := io.ReadAll(io.LimitReader(resp.Body, maxTitlePrefix))
	if err == nil && !autoindex.NamesDirectory(resp.URL, page) {
		return resp, nil
	}
	resp.Body.Close()
	if err != nil {
		return nil, err
	}
	next := req.Clone()
	if next.URL, err = resp.URL.WithPath(resp.URL.Path() + "/"); err != nil {
		return nil, fetch.BadURL.With(err)
	}
	req.Trace.Notef("the object is a directory: its URL ends in a slash")
	return j.request(j.ctx, next)
}
