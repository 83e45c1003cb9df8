package save

import (
	"context"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/splice"
	"github.com/anyurl/fetch/uri"
)

// A Result describes a file that [Fetch] saved.
type Result struct {
	Path      string  // path of the file, see [File.Name]
	URL       uri.URI // URL of the object, after redirects
	Bytes     int64   // size of the file in bytes
	Resumed   int64   // number of bytes that an earlier call saved
	Validator string  // validator of the saved version, or "" if unknown
	Sum       []byte  // SHA-256 digest of the file, see [File.Sum]

	// Unchanged is true if the server reported that the object is unchanged, or
	// sent no object ([fetch.Response.NoContent]) and no check of the file was
	// required. No file is written in these cases.
	Unchanged bool
}

// Get downloads the object at a URL that the user entered to the file at path.
// It parses url with [fetch.ParseURL], and calls [Fetch] with Options.Resume.
//
// If a call fails, also because ctx has ended, the next call with the same
// arguments resumes the download. It starts again if the server has not identified
// the version of the object (fetch.Response.Validator). A call after a success
// downloads the object again and replaces the file.
func Get(ctx context.Context, client *fetch.Client, url, path string) (Result, error) {
	u, err := fetch.ParseURL(url)
	if err != nil {
		return Result{}, err
	}
	return Fetch(ctx, client, &fetch.Request{URL: u}, path, Options{Resume: true})
}

// Fetch downloads an object to the file at path. If Options.Resume is set,
// Fetch resumes the part file of an earlier call. It starts again if the object
// has changed, or if an interrupted body cannot be resumed; see [Transfer]. If
// Fetch fails, or if the server has no object (status 204), the file at path is
// unchanged.
//
// A client with [wrap.Standard] also retries failed requests. If req has a
// Range, Fetch saves only this range and cannot resume. If req.Op is not
// fetch.Get, Fetch returns fetch.Usage.
func Fetch(ctx context.Context, client *fetch.Client, req *fetch.Request, path string, o Options) (Result, error) {
	d := download{meter: newMeter(o.Progress)}
	return d.run(ctx, client, req, path, o)
}

// A download is the [Sink] that Fetch uses to save an object in a File.
type download struct {
	file    *File
	time    bool
	skipped int64 // bytes of the object that the file omits
	result  Result
	meter   meter
}

// run implements Fetch.
func (d *download) run(ctx context.Context, client *fetch.Client, req *fetch.Request, path string, o Options) (Result, error) {
	if o.URL == "" {
		o.URL = req.URL.Unredacted()
	}
	o.Weak = o.Weak || client.Scheme(req.URL.Scheme()).Traits.WeakValidators
	if req.Op != fetch.Get {
		return Result{}, fetch.Usage.Errorf("cannot save %s: the operation %s retrieves no object", path, req.Op)
	}
	if !req.Range.IsZero() && (o.Resume || o.Offset > 0) {
		return Result{}, fetch.Usage.Errorf("cannot resume %s: the request has a range", path)
	}
	f, err := Create(path, o)
	if err != nil {
		return Result{}, err
	}
	defer f.Close()
	d.file, d.time, d.result = f, o.Time, Result{URL: req.URL, Unchanged: true}
	if o.Offset > 0 && f.keepBytes == 0 { // there is no file, so the new file contains only the body
		d.skipped = o.Offset
	}
	d.result.Resumed = f.State().Offset - d.skipped
	if err := Transfer(ctx, client, req, d, o.Retry); err != nil {
		return Result{}, err
	}
	d.result.Path = f.Name()
	d.meter.end(d.result, d.skipped)
	return d.result, nil
}

func (d *download) State() State   { return d.file.State() }
func (d *download) Restarts() bool { return d.file.Restarts() }

// copyBuffer is the size of the buffer through which the body is copied, in
// bytes. A large buffer reduces the number of system calls.
const copyBuffer = 256 << 10

func (d *download) Receive(req *fetch.Request, resp *fetch.Response) error {
	f, r := d.file, &d.result
	if resp.NoContent() && len(f.checks) == 0 {
		req.Trace.Notef("%s is not written: the server has no object (status 204)", f.Name())
		r.URL = resp.URL
		return nil
	}
	s := StateOf(req, resp)
	if s.Offset == 0 {
		r.Resumed = 0
	}
	if err := f.Begin(s); err != nil {
		return err
	}
	if err := d.meter.start(f.State()); err != nil {
		return err
	}
	if err := f.VerifyRest(s, resp.Digest); err != nil {
		return err
	}
	if _, err := splice.Copy(pipeFile{f, &d.meter}, resp.Body, make([]byte, copyBuffer)); err != nil {
		return f.DiscardMismatch(err)
	}
	if d.time {
		f.SetTime(resp.Time)
	}
	r.URL, r.Bytes, r.Validator, r.Unchanged = resp.URL, f.State().Offset-d.skipped, f.State().Validator, false
	if err := f.Commit(); err != nil {
		return err
	}
	r.Sum = f.Sum()
	return nil
}
