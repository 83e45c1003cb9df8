package main

import (
	"io"
	"os"
	"path/filepath"

	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
)

// openSink opens the destination of the body of req, which is a file or the
// writer output. The index is the position of the URL on the command line.
// After the response has arrived, proposedName returns the file name that the
// server proposes.
func (r *retrieval) openSink(req *fetch.Request, index int, output io.Writer,
	proposedName func() string) (sink, error) {
	body, file := &r.flags.body, &r.flags.file
	offset, auto, err := body.offset()
	if err != nil {
		return nil, err
	}
	name, err := body.fileName(req.URL.Path(), index)
	if err != nil {
		return nil, err
	}
	if name == "" {
		if auto {
			return nil, fetch.Usage.Errorf("-C - resumes a file: use -o or -O to name the file")
		}
		return newStream(output, offset, r.flags.sums()), nil
	}
	if t := terminal.Open(name); t != nil {
		s := newStream(t, offset, r.flags.sums())
		s.file = t
		return s, nil
	}
	if file.createDirs {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return nil, fetch.Local.With(err)
		}
	}
	if body.remoteName || body.outputDir != "" {
		r.openFolder.Do(func() { r.folder, _ = save.OpenFolder(body.outputDir) })
	}
	o := save.Options{
		URL: req.URL.Unredacted(), Weak: r.client.Scheme(req.URL.Scheme()).Traits.WeakValidators,
		Resume: auto, Offset: offset, Strict: file.strict, Sum: r.flags.sums(), Folder: r.folder,
	}
	switch {
	case file.skipExisting:
		o.Existing = save.Refuse
	case file.noClobber:
		o.Existing = save.Number
	}
	if body.remoteHeaderName && body.remoteName {
		if auto || offset > 0 {
			return nil, fetch.Usage.Errorf("-C and -J exclude each other, because the response determines the file name")
		}
		return &headerNamedFile{proposedName: proposedName, name: name, options: o}, nil
	}
	created, err := save.Create(name, o)
	if err != nil {
		return nil, err
	}
	return fileSink{created}, nil
}
