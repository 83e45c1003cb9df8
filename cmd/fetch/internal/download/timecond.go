package download

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
)

// setTimeCondition sets the condition of -z in req: the object is retrieved
// only if it is newer than text. The text is a date, or the name of a file,
// whose modification time is used. A leading "-" selects older objects instead.
func setTimeCondition(req *fetch.Request, text string) {
	if text == "" {
		return
	}
	text, before := strings.CutPrefix(strings.TrimPrefix(text, "+"), "-")
	date, ok := options.ParseDate(text)
	if !ok {
		info, err := os.Stat(text)
		if err != nil {
			req.Trace.Notef("-z %s is neither a date nor a file: the condition is ignored", text)
			return
		}
		date = info.ModTime()
	}
	if before {
		req.Before = date
	} else {
		req.Since = date
	}
}

// completeOld repeats the request without its time condition if -z names the
// output file, and the object has another size than this file. The file is
// then a truncated or damaged copy, although it has the time of the object. As
// in wget, such a file is replaced.
func (j *Job) completeOld(ctx context.Context, req *fetch.Request, resp *fetch.Response) (*fetch.Response, error) {
	if !resp.Unchanged || !j.differsInSize(req, resp) {
		return resp, nil
	}
	resp.Body.Close()
	req = req.Clone()
	req.Since = time.Time{}
	return j.request(ctx, req)
}

// setTimestamp sets the condition of --timestamping in req: the object is
// retrieved only if it is newer than the existing output file.
func (j *Job) setTimestamp(req *fetch.Request) error {
	f := j.flags
	switch {
	case !f.File.Timestamping:
		return nil
	case f.Body.ContinueAt != "" || f.Request.ByteRange != "" || f.File.NoClobber || f.File.SkipExisting || f.Request.TimeCond != "" || f.Body.RemoteHeaderName:
		return fetch.Usage.Errorf("--timestamping replaces complete files, so it excludes -C, -r, -z, -J, --no-clobber and --skip-existing")
	}
	name, err := f.Body.FileName(req.URL, j.Index, j.Values)
	if err != nil {
		return err
	}
	if name == "" {
		return fetch.Usage.Errorf("--timestamping requires a file: use -O, -o or --output-dir")
	}
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		req.Since = info.ModTime()
	}
	return nil
}

// differsInSize reports whether -z names the output file, and this file has
// another size than the object. It returns false if the file does not contain
// the body unchanged.
func (j *Job) differsInSize(req *fetch.Request, resp *fetch.Response) bool {
	if req.Since.IsZero() || req.Op != fetch.Get || !req.Range.IsZero() || !j.flags.Unmodified() || resp.Size < 0 ||
		resp.Header.Get("Content-Encoding") != "" || resp.Header.Get("Content-Range") != "" {
		return false
	}
	name := strings.TrimPrefix(j.flags.Request.TimeCond, "+")
	if j.flags.File.Timestamping {
		name = j.Sink.Name()
	}
	condition, err := os.Stat(name)
	if err != nil {
		return false
	}
	output, err := os.Stat(j.Sink.Name())
	reported := resp.Size > 0 || j.Client.Scheme(resp.URL.Scheme()).Traits.ReportsSize
	if err != nil || !reported || !os.SameFile(condition, output) || output.Size() == resp.Size {
		return false
	}
	j.Note("%s has %d bytes and the object has %d: it is retrieved although it is not newer", j.Sink.Name(), output.Size(), resp.Size)
	return true
}
