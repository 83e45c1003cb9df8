package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/warc/record"
)

// A warcFile is the file that --warc-file names. It records the exchanges of all
// jobs.
type warcFile struct {
	dir    *os.Root // directory of the file
	path   string   // path of dir
	name   string
	lock   save.Handle // prevents two processes from writing the file
	writer *warc.Writer

	mu    sync.Mutex
	wrote bool  // at least one record was written
	err   error // first error of writing a record
}

// openWARCFile opens the file that --warc-file names. It returns nil if the flag
// is not set.
func (f *objectFlags) openWARCFile() (_ *warcFile, err error) {
	name := f.body.warcFile
	if name == "" {
		return nil, nil
	}
	switch {
	case !warc.IsFileName(name) || strings.HasSuffix(name, warc.OpenSuffix):
		return nil, fetch.Usage.Errorf("--warc-file requires a name that ends in .warc or .warc.gz, such as %q", name+".warc.gz")
	case len(f.client.replay.archives) > 0:
		return nil, fetch.Usage.Errorf("--warc-file and --archive exclude each other, because nothing is requested")
	case f.request.head, f.request.byteRange != "", f.body.continueAt != "", f.request.segments > 1:
		return nil, fetch.Usage.Errorf("--warc-file records complete objects, so it excludes -I, -r, -C and --segments")
	}
	w := &warcFile{path: filepath.Dir(name), name: filepath.Base(name)}
	if w.dir, err = os.OpenRoot(w.path); err != nil {
		return nil, localError(err)
	}
	o := warc.Options{Name: w.name, Uncompressed: !strings.HasSuffix(name, ".gz")}
	o.Info = fetch.Header{{Name: "software", Value: product()}}
	host, _ := os.Hostname()
	agent, err := f.client.http.agent()
	for _, field := range []fetch.Field{{Name: "hostname", Value: host}, {Name: "http-header-user-agent", Value: agent}} {
		if field.Value != "" {
			o.Info = append(o.Info, field)
		}
	}
	if err == nil {
		w.writer, err = warc.NewWriter(w.dir, o)
	}
	if err == nil {
		w.lock, err = save.OpenLock(name + warc.OpenSuffix)
	}
	if err != nil {
		w.dir.Close()
		return nil, err
	}
	return w, nil
}

// close completes the file. If a record could not be written, or if there are no
// records, the file does not get its final name. close does nothing if w is nil.
func (w *warcFile) close() error {
	if w == nil {
		return nil
	}
	var err error
	switch {
	case w.err != nil:
		err = errors.Join(w.err, w.writer.Abandon())
	case w.wrote:
		err = w.writer.Close()
	default:
		err = w.dir.Remove(w.name + warc.OpenSuffix)
	}
	return localError(errors.Join(err, w.lock.Close(), w.dir.Close()))
}

// write writes the records of an exchange. After an error, it writes no records
// and returns the same error.
func (w *warcFile) write(group []*warc.Record) error {
	if len(group) == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		_, w.err = w.writer.Write(group...)
		w.wrote = true
	}
	return w.err
}

// middleware records each request and its response.
func (w *warcFile) middleware(next fetch.Driver) fetch.Driver {
	return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		s := req.Scheme()
		if s.Traits.Session {
			return next.Do(ctx, req)
		}
		r := &recording{file: w, req: req, scheme: s, started: time.Now().UTC().Truncate(time.Microsecond)}
		r.Mode = s.Mirror.Record
		if r.Mode == scheme.RecordWire {
			r.Sent, r.Response.Body = &warcSpool{dir: w.path}, &warcSpool{dir: w.path}
		} else {
			r.object = &warcSpool{dir: w.path}
		}
		traced := *req
		traced.Trace = joinTraces(req.Trace, r.Trace())
		resp, err := next.Do(ctx, &traced)
		if err != nil {
			if failed := r.fail(ctx, err); failed != nil {
				err = failed
			}
			return nil, err
		}
		r.resp, r.body = resp, resp.Body
		resp.Body = r
		return resp, nil
	})
}

// preventResume changes req so that no middleware resumes the response or
// requests it in parts, because a record contains a complete response. It does
// nothing if w is nil.
func (w *warcFile) preventResume(req *fetch.Request) {
	if w != nil {
		req.Trace = joinTraces(req.Trace, &trace.Trace{Restart: func() {}})
	}
}

// joinTraces returns a copy of t whose hooks Sent, Received and Restart also
// call those of more.
func joinTraces(t, more *trace.Trace) *trace.Trace {
	var joined trace.Trace
	if t != nil {
		joined = *t
	}
	if more == nil {
		return &joined
	}
	bytesTo := func(first, second func([]byte)) func([]byte) {
		if first == nil || second == nil {
			if first == nil {
				return second
			}
			return first
		}
		return func(p []byte) { first(p); second(p) }
	}
	joined.Sent, joined.Received = bytesTo(joined.Sent, more.Sent), bytesTo(joined.Received, more.Received)
	joined.Messages = more.Messages && (t == nil || t.Messages || t.Sent == nil && t.Received == nil)
	restart := joined.Restart
	joined.Restart = func() {
		if restart != nil {
			restart()
		}
		if more.Restart != nil {
			more.Restart()
		}
	}
	return &joined
}

// A recording captures one exchange for the WARC file. It replaces the body of
// the response, and writes the records when the body ends.
type recording struct {
	record.Recorder
	file    *warcFile
	req     *fetch.Request
	scheme  fetch.Scheme
	started time.Time
	resp    *fetch.Response
	body    io.ReadCloser
	object  *warcSpool // the body, or nil if the Recorder stores it

	mu    sync.Mutex // locked during a call of Read
	ended bool       // the records are written
}

// unrecorded lists the faults that occur before a request is sent. Such
// requests get no record.
var unrecorded = [...]fetch.Fault{
	fetch.Denied, fetch.BadPort, fetch.BadAddress, fetch.BadReferral, fetch.Unsupported, fetch.NeedQuery, fetch.BadURL,
	fetch.Usage, fetch.Local,
}

// fail records an exchange that failed without a response.
func (r *recording) fail(ctx context.Context, err error) error {
	defer r.free()
	if ctx.Err() != nil || slices.Contains(unrecorded[:], fetch.FaultOf(err)) {
		return nil
	}
	of := record.NewCapture(r.req.URL, r.started, nil)
	return r.file.write([]*warc.Record{of.Failure(err)})
}

// Read reads the body and writes the records at its end.
func (r *recording) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, err := r.body.Read(p)
	if r.ended {
		return n, err
	}
	var failed error
	if r.object != nil {
		_, failed = r.object.Write(p[:n])
	}
	switch {
	case failed != nil || err == nil:
	case err == io.EOF:
		failed = r.end("")
	case fetch.FaultOf(err) == fetch.Timeout:
		failed = r.end(warc.TruncatedByTime)
	default:
		failed = r.end(warc.TruncatedByDisconnect)
	}
	if failed != nil {
		err = failed
	}
	return n, err
}

// maxDrained limits the bytes of an error page or redirect that Close reads for
// the record if the caller has not read the body.
const maxDrained = 16 << 20

// Close writes the WARC records of the exchange, also if the caller did not read
// the complete body.
func (r *recording) Close() error {
	if r.resp.Fault != nil || !r.resp.Location.IsZero() || r.resp.Unchanged {
		io.CopyN(io.Discard, r, maxDrained) // Read writes the records at the end
	}
	err := r.body.Close() // unblocks a concurrent Read
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		if failed := r.end(warc.TruncatedUnspecified); failed != nil {
			err = failed
		}
	}
	r.free()
	return err
}

// end writes the records. If the body is incomplete, truncated is the reason.
func (r *recording) end(truncated string) error {
	r.ended = true
	err := r.WriteError()
	var group []*warc.Record
	if err == nil {
		group, err = r.records(truncated == "")
	}
	if err == nil && len(group) > 0 {
		group[0].Truncated = truncated
		err = r.file.write(group)
	}
	return localError(err)
}

// records returns the records of the exchange. The parameter complete reports
// whether the body was read to its end.
func (r *recording) records(complete bool) ([]*warc.Record, error) {
	of := record.NewCapture(r.req.URL, r.started, r.resp)
	if r.object != nil {
		return r.resourceRecords(&of)
	}
	if !r.Response.Received() {
		return nil, nil
	}
	sent, err := r.Sent.Reader()
	if err != nil {
		return nil, err
	}
	request, err := record.MaskSecrets(sent)
	if err != nil {
		return nil, err
	}
	block, _, err := r.Response.Block(r.resp, nil)
	group := []*warc.Record{of.Response(block), of.Request(bytes.NewReader(request))}
	if fields := r.trailerFields(complete); len(fields) > 0 {
		group = append(group, of.Metadata(warc.FieldsMedia, warc.FieldList(fields)))
	}
	return group, err
}

// trailerFields returns the trailer fields of a complete response.
func (r *recording) trailerFields(complete bool) fetch.Header {
	if !complete {
		return nil
	}
	return r.Response.TrailerFields(r.resp)
}

// resourceRecords returns the records of an exchange for a scheme other than
// http and https.
func (r *recording) resourceRecords(of *warc.Capture) ([]*warc.Record, error) {
	object, err := r.object.Reader()
	if err != nil {
		return nil, err
	}
	group := []*warc.Record{of.Resource(record.ResourceMedia(r.req.URL, r.resp), object)}
	block := r.Conversation()
	if steps, err := r.plan(); len(block) == 0 && err == nil {
		var fields fetch.Header
		for _, s := range steps {
			fields = append(fields, fetch.Field{Name: "plan", Value: s.String()})
		}
		block, _ = io.ReadAll(warc.FieldList(fields))
	}
	if len(block) > 0 {
		group = append(group, of.Metadata(warc.FieldsMedia, bytes.NewReader(block)))
	}
	return group, nil
}

// plan returns the protocol commands that the scheme plans for the request.
func (r *recording) plan() ([]scheme.Step, error) {
	if r.scheme.Plan == nil {
		return nil, nil
	}
	return r.scheme.Plan(&fetch.Request{URL: r.req.URL})
}

// free removes the temporary files.
func (r *recording) free() {
	r.Free()
	if r.object != nil {
		r.object.Free()
	}
}
