package download

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/sink"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// openSink opens the destination of the body of req, which is a file or the
// writer j.output.
func (j *Job) openSink(req *fetch.Request) (sink.Sink, error) {
	body, file := &j.flags.Body, &j.flags.File
	offset, auto, err := body.Offset()
	if err != nil {
		return nil, err
	}
	name, err := body.FileName(req.URL, j.Index, j.Values)
	if err != nil {
		return nil, err
	}
	if j.checks, err = j.verify.Checks(j.ctx, req.URL); err != nil {
		return nil, err
	}
	j.checks = append(j.checks, j.listed...)
	if name == "" {
		if auto {
			return nil, fetch.Usage.Errorf("-C - resumes a file: use -o or -O to name the file")
		}
		return sink.Stream(j.Output, offset, j.flags.Sums(), j.checks), nil
	}
	if file.CreateDirs || body.Names.Directories() {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return nil, fetch.Local.With(err)
		}
	}
	if (body.RemoteName || body.OutputDir != "") && !body.Names.Directories() {
		j.openFolder.Do(func() { j.folder, _ = save.OpenFolder(body.OutputDir) })
	}
	o := save.Options{
		URL: req.URL.Unredacted(), Weak: j.Client.Scheme(req.URL.Scheme()).Traits.WeakValidators,
		Resume: auto, Offset: offset, Strict: file.Strict, Sum: j.flags.Sums(), Folder: j.folder,
		Verify: j.checks,
	}
	switch {
	case file.SkipExisting:
		o.Existing = save.Refuse
	case file.NoClobber:
		o.Existing = save.Number
	case j.named && j.Index >= len(body.Output): // a server chose the name
		o.Existing = save.Refuse
	case auto:
		o.Existing = save.Continue
	}
	if body.RemoteHeaderName && body.RemoteName {
		if auto || offset > 0 {
			return nil, fetch.Usage.Errorf("-C and -J exclude each other, because the response determines the file name")
		}
		if s := sink.Terminal(name, offset, j.flags.Sums(), j.checks); s != nil {
			return s, nil
		}
		return sink.HeaderNamedFile(name, o, j.proposedName), nil
	}
	created, err := save.Create(name, o)
	if err != nil {
		return nil, adviseDirectory(err, filepath.Dir(name))
	}
	if created.Device() {
		if s := sink.Terminal(name, offset, j.flags.Sums(), j.checks); s != nil {
			created.Close()
			return s, nil
		}
	}
	return sink.File(created), nil
}

// adviseDirectory adds the flag that creates dir to the error of a file in dir, if
// dir is missing.
func adviseDirectory(err error, dir string) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, missing := os.Stat(dir); !errors.Is(missing, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%w; add --create-dirs", err)
}

// proposedName returns the file name in the Content-Disposition header field of
// the response, without unsafe characters. If the field has no name and the
// request was redirected, proposedName returns the last part of the final URL. It
// returns "" if the server proposes no name.
func (j *Job) proposedName() string {
	name := safeName(http.Filename(j.Resp.Header.Get("Content-Disposition")))
	if name == "" && len(j.Resp.Chain) > 0 {
		name, _ = save.Name(j.Resp.URL.Path()) // if it is empty, the name in the first URL is used
	}
	return name
}

// safeName escapes the unsafe characters in the file name that a server proposes.
// Unlike save.Name, it keeps characters that are unsafe in URLs only.
func safeName(proposed string) string {
	name, err := save.Name("/" + uri.Escape(strings.Trim(proposed, " "), uri.Segment))
	if err != nil {
		return ""
	}
	return strings.NewReplacer("%20", " ", "%23", "#", "%5B", "[", "%5D", "]", "%7B", "{", "%7D", "}").Replace(name)
}
