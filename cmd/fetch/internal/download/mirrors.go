package download

import (
	"context"
	"errors"
	"path"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/metalink"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/wrap/mirrors"
)

// retrieveFromMirrors saves the files of a Metalink document, or the file of req
// and its mirrors.
func (j *Job) retrieveFromMirrors(req *fetch.Request) error {
	object := mirrors.Object{Mirrors: []*fetch.Request{req}, Size: -1}
	for _, text := range j.flags.Sources.Mirrors {
		next := req.Clone()
		var err error
		if next.URL, err = fetch.ParseURL(text); err != nil {
			return err
		}
		next.Auth = j.Client.Logins.Credential(next)
		object.Mirrors = append(object.Mirrors, next)
	}
	if !j.flags.Sources.Metalink {
		if digests := j.flags.Verify.Digests(); len(digests) > 0 {
			object.Digest = digests[0].String()
		} else if len(j.checks) == 0 {
			j.Note("the mirrors are not compared: use --checksum or --checksum-file to verify the file")
		}
		return j.saveObject(req, object)
	}
	document := req.Clone()
	document.Since, document.Before = time.Time{}, time.Time{} // -z is for the files
	files, link, err := j.metalinkFiles(document)
	if err != nil {
		return err
	}
	const advice = "use -O or --output-dir"
	if len(files) > 1 && j.flags.Body.ToStdout(j.Index) {
		return fetch.Usage.Errorf("the Metalink document has %d files: %s", len(files), advice)
	}
	if err := j.flags.CheckSharedOutput(j.Index, int64(len(files)), advice); err != nil {
		return err
	}
	for _, f := range files {
		err = errors.Join(err, j.saveListed(req, f, link, object.Mirrors[1:]))
	}
	return err
}

// saveListed saves a file of a list of mirrors. The function link returns the
// request for a URL of the list.
func (j *Job) saveListed(req *fetch.Request, f metalink.File, link func(uri.URI) *fetch.Request, more []*fetch.Request) (err error) {
	named := req.Clone()
	j.named = f.Name != "" && f.Name != documentedName(req.URL)
	if f.Name != "" {
		if named.URL, err = req.URL.WithPath(path.Dir("/"+strings.TrimPrefix(req.URL.Path(), "/")) + "/" + uri.Escape(f.Name, uri.Segment)); err != nil {
			return fetch.BadURL.With(err)
		}
	}
	object := mirrors.Object{Mirrors: more, Size: f.Size, PieceSize: f.PieceSize, Pieces: f.Pieces}
	for _, m := range f.Mirrors {
		next := link(m.URL)
		next.Since, next.Before = req.Since, req.Before
		if m.URL == req.URL {
			next = req.Clone()
		}
		object.Mirrors = append(object.Mirrors, next)
	}
	j.listed = nil
	for i, d := range f.Digests {
		if i == 0 {
			object.Digest = d.String()
			j.listed = append(j.listed, d.Check("the list of mirrors"))
		}
	}
	return j.saveObject(named, object)
}

// documentedName returns the name of the file that a Metalink document describes
// by the name of the document, such as x.iso for x.iso.meta4.
func documentedName(document uri.URI) string {
	name, err := uri.Unescape(path.Base(document.Path()))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(strings.TrimSuffix(name, ".meta4"), ".metalink")
}

// saveObject saves an object of several mirrors.
func (j *Job) saveObject(req *fetch.Request, o mirrors.Object) error {
	if len(o.Mirrors) == 1 && o.PieceSize == 0 {
		req.Trace.Notef("the file has only one mirror")
	}
	source := mirrors.New(j.Client, o)
	return j.save(req, fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		j.attempts.calls.Add(1)
		resp, err := source.Do(ctx, req)
		if err == nil && resp.Unchanged && j.differsInSize(req, resp) { // as in completeOld
			resp.Body.Close()
			for i := range o.Mirrors {
				o.Mirrors[i] = o.Mirrors[i].Clone()
				o.Mirrors[i].Since = time.Time{}
			}
			resp, err = mirrors.New(j.Client, o).Do(ctx, req)
		}
		if err == nil {
			j.Resp = resp
		}
		return resp, err
	}))
}

// unknownServer is the source of URLs in a local document. They count as links
// of a public page, because the document may come from anywhere.
var unknownServer = uri.MustParse("http://metalink.invalid/")

// metalinkFiles returns the files of the Metalink document at the URL of req. If
// the URL names the file itself, the header of the response lists the mirrors.
// The function link returns the request for the URL of a mirror.
func (j *Job) metalinkFiles(req *fetch.Request) (files []metalink.File, link func(uri.URI) *fetch.Request, err error) {
	isName := strings.HasSuffix(req.URL.Path(), ".meta4") || strings.HasSuffix(req.URL.Path(), ".metalink")
	if isName || j.Client.Scheme(req.URL.Scheme()).Local {
		return j.metalinkDocument(req)
	}
	head := req.Clone()
	head.Op = fetch.Stat
	resp, err := j.Client.Do(j.ctx, head)
	if err != nil {
		return nil, nil, err
	}
	resp.Body.Close()
	if metalink.IsDocument(resp.Media, nil) {
		return j.metalinkDocument(req)
	}
	f, described := metalink.FromHeader(req.URL, resp.Header)
	if described.IsZero() {
		f.Size = resp.Size
		return []metalink.File{f}, resp.Request, nil
	}
	files, link, err = j.metalinkDocument(resp.Request(described))
	for _, listed := range files {
		if uri.Escape(listed.Name, uri.Segment) == path.Base(req.URL.Path()) || len(files) == 1 {
			return []metalink.File{listed}, link, err
		}
	}
	if err == nil {
		err = fetch.NotFound.Errorf("%s does not list the file %s", described, path.Base(req.URL.Path()))
	}
	return nil, nil, err
}

// metalinkDocument retrieves and parses a Metalink document.
func (j *Job) metalinkDocument(req *fetch.Request) ([]metalink.File, func(uri.URI) *fetch.Request, error) {
	resp, err := j.Client.Do(j.ctx, req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	files, err := metalink.Parse(resp.Body, resp.URL)
	if !j.Client.Scheme(resp.URL.Scheme()).Local {
		return files, resp.Request, err
	}
	return files, func(u uri.URI) *fetch.Request {
		return &fetch.Request{URL: u, From: &fetch.Source{URL: unknownServer}}
	}, err
}
