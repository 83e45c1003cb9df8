package download

import (
	"io"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/listing"
	"github.com/anyurl/fetch/cmd/fetch/internal/transfer"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/autoindex"
	"github.com/anyurl/fetch/warc"
)

// List writes a listing of the URL, or of the records in a WARC or WACZ file.
func (j *Job) List(write listing.AllWriter) error {
	if clientflags.IsArchive(j.Text) {
		return write(j.Output, warc.FileEntries(j.Text))
	}
	w, err := j.Wildcard(j.Argument)
	if err != nil {
		return err
	}
	var req *fetch.Request
	if w != nil {
		req, err = j.listRequest(w)
	} else {
		req, err = j.NewRequest(j.Argument)
	}
	if err != nil {
		return err
	}
	req.Op = fetch.Get
	resp, err := j.request(j.ctx, req)
	if err != nil {
		return err
	}
	if w == nil {
		if resp, err = j.withSlash(req, resp); err != nil {
			return err
		}
	}
	defer resp.Body.Close()
	return write(j.Output, w.entries(resp.Entries()))
}

// ListCaptures writes the captures of the URL in the archive. It returns an error
// if the archive has no capture of the URL.
func (j *Job) ListCaptures(write listing.AllWriter) error {
	req, err := j.NewRequest(j.Argument)
	if err != nil {
		return err
	}
	found := false
	all := func(yield func(fetch.Entry, error) bool) {
		for e, err := range j.Client.Archive.Captures(j.ctx, req.URL) {
			found = true
			if !yield(e, err) {
				return
			}
		}
	}
	if err := write(j.Output, all); err != nil || found {
		return err
	}
	return fetch.NotFound.Errorf("%s: the archive has no capture of this URL", req.URL)
}

// Describe prints the metadata of the URL as a line of JSON.
func (j *Job) Describe() error {
	req, err := j.NewRequest(j.Argument)
	if err != nil {
		return err
	}
	req.Op = fetch.Stat
	resp, err := j.request(j.ctx, req)
	if err != nil {
		return err
	}
	resp.Body.Close()
	return console.Encode(j.Output, transfer.MetadataOf(resp))
}

// maxTitlePrefix is the number of bytes of a page that withSlash reads.
const maxTitlePrefix = 16 << 10

// withSlash requests the URL of req with a final slash, if resp is an HTML page
// whose title or heading names this directory. It returns the new response. Some
// web servers send the listing of a directory without a redirect. Otherwise
// withSlash returns resp unchanged. If resp is not a listing, its body may have
// been read. After a redirect, it sends no request, because a server chose the
// URL.
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
