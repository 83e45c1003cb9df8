package archive

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"syscall"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/coding"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/tree"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// An exportedURL is the state of the export of one URL.
type exportedURL struct {
	*exporter
	url  uri.URI
	path string // path of the file, or "" before it is assigned

	redirect, failed bool // captures of redirects and of errors were found
}

// count counts a URL for which no object was written.
func (e *exportedURL) count() {
	switch {
	case e.redirect:
		e.result.Redirects++
	case e.failed:
		e.result.Errors++
	}
}

// write writes the object of the capture that an index line describes. The
// result done is false if the capture contains no object. An error means that
// the capture is damaged, unless isLocal returns true for it.
func (e *exportedURL) write(l warc.Line) (done bool, err error) {
	done, coded, err := e.writeBody(l, true)
	if err != nil && coded && !isLocal(err) { // some programs store the decoded body with the original header
		if again, _, err := e.writeBody(l, false); err == nil {
			return again, nil
		}
	}
	return done, err
}

// writeBody is like write. It removes content codings if decode is true. The
// result coded reports whether it removed any.
func (e *exportedURL) writeBody(l warc.Line, decode bool) (done, coded bool, err error) {
	resp, coded, err := e.replay(l, decode)
	if resp == nil || err != nil {
		return false, coded, err
	}
	defer func() { resp.Body.Close() }()
	if err := e.assign(resp); err != nil {
		return false, coded, err
	}
	info, err := e.stat(e.path)
	switch {
	case errors.Is(err, fetch.Exists):
		e.conflict(l, err)
		return true, coded, nil
	case err != nil:
		return false, coded, err
	case info == nil:
		return true, coded, e.stage(l, resp)
	}
	same, err := e.compare(info, resp.Body)
	switch {
	case err != nil:
		return false, coded, err
	case same:
		e.result.Present++
		return true, coded, nil
	case !e.o.Overwrite:
		e.conflict(l, fetch.Exists.Errorf("%s exists with other content", e.path))
		return true, coded, nil
	}
	resp.Body.Close()
	again, _, err := e.replay(l, decode)
	if err != nil {
		return false, coded, err
	}
	resp = again
	return true, coded, e.stage(l, resp)
}

// replay opens the object of a capture. It returns nil if the capture is a
// redirect or an error, or if the record has another type.
func (e *exportedURL) replay(l warc.Line, decode bool) (resp *fetch.Response, coded bool, err error) {
	resp, err = e.o.Archive.Replay(e.ctx, &fetch.Request{URL: e.url}, l)
	switch {
	case errors.Is(err, fetch.NotFound) && !errors.Is(err, fs.ErrNotExist) && l.Media != "warc/revisit":
		return nil, false, nil // a record of another type
	case err != nil:
		return nil, false, err
	case resp.Fault != nil, resp.Code == 206:
		e.failed = true
	case !resp.Location.IsZero(), resp.Code/100 == 3:
		e.redirect = true
	default:
		if decode && !media.IsCompressed(resp.Media, e.url.Path()) {
			coded, err = coding.DecodeStored(resp, nil)
		}
		return resp, coded, err
	}
	return nil, false, resp.Body.Close()
}

// assign sets e.path, the path of the exported file.
func (e *exportedURL) assign(resp *fetch.Response) error {
	if e.path != "" {
		return nil
	}
	want := tree.Want{Key: frontier.KeyOf(e.url.Unredacted()), URL: e.url, Menu: resp.Kind == fetch.Menu}
	assigned, err := e.namer.Assign(e.ctx, []tree.Want{want})
	if err != nil {
		return err
	}
	e.path = assigned[0].Path
	if e.assigned = append(e.assigned, assigned...); len(e.assigned) >= exportBatch {
		return e.flush()
	}
	return nil
}

func (e *exportedURL) conflict(l warc.Line, err error) {
	e.result.Conflicts++
	e.report(l, err)
}

func (e *exportedURL) report(l warc.Line, err error) {
	e.o.Report(ExportProblem{URL: l.URL, Path: e.path, Err: err})
}

// stage writes the object to a temporary file, which flush moves to its path.
func (e *exportedURL) stage(l warc.Line, resp *fetch.Response) error {
	f, err := e.store.Create(Label(frontier.KeyOf(e.url.Unredacted())))
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, &cancelableReader{e.ctx, resp.Body}); err != nil {
		return errors.Join(err, f.Discard())
	}
	e.staged = append(e.staged, stagedFile{f, e.path, modifiedTime(resp, l)})
	if e.bytes += f.Size(); e.bytes >= exportBytes {
		return e.flush()
	}
	return nil
}

// compare reports whether the file at the path contains the object in body. It
// reads the complete body, so that it finds damage.
func (e *exportedURL) compare(info fs.FileInfo, body io.Reader) (same bool, err error) {
	f, err := e.store.Open(e.path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	c := &comparer{file: f, left: info.Size(), same: true}
	_, err = io.Copy(c, &cancelableReader{e.ctx, body})
	return c.same && c.left == 0, err
}

// A cancelableReader reads from a Reader until the context ends.
type cancelableReader struct {
	ctx context.Context
	io.Reader
}

func (r *cancelableReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// A comparer is a writer that compares the written bytes with a file.
type comparer struct {
	file   io.Reader
	left   int64 // bytes of the file that were not compared
	same   bool
	buffer []byte
}

func (c *comparer) Write(p []byte) (int, error) {
	if c.left -= int64(len(p)); !c.same || c.left < 0 {
		c.same = false
		return len(p), nil
	}
	if len(c.buffer) < len(p) {
		c.buffer = make([]byte, len(p))
	}
	if _, err := io.ReadFull(c.file, c.buffer[:len(p)]); err != nil {
		return 0, fetch.Local.With(err)
	}
	c.same = bytes.Equal(c.buffer[:len(p)], p)
	return len(p), nil
}

// modifiedTime returns the modification time of a file: the time that the server
// sent, or else the time of the capture.
func modifiedTime(resp *fetch.Response, l warc.Line) time.Time {
	if !resp.Time.IsZero() {
		return resp.Time
	}
	at, _ := time.Parse("20060102150405", l.Timestamp) // the zero time means now
	return at
}

// isLocal reports whether err was caused by a local file, and not by a WARC
// record.
func isLocal(err error) bool {
	fault := fetch.FaultOf(Classify(err))
	return fault == fetch.Local || fault == fetch.DiskFull
}

// isNotFolder reports whether err means that a file has the name of a directory
// in the path.
func isNotFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
