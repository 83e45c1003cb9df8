package urlfs

import (
	"context"
	"io"
	"io/fs"
)

// A directory implements fs.ReadDirFile.
type directory struct {
	*node
	path   string
	rest   []node
	closed bool
}

func (d *directory) Stat() (fs.FileInfo, error) { return d.node.Info() }

func (d *directory) Read([]byte) (int, error) {
	return 0, pathError("read", d.path, fs.ErrInvalid)
}

func (d *directory) Close() error {
	d.closed = true
	return nil
}

// ReadDir implements fs.ReadDirFile.
func (d *directory) ReadDir(n int) ([]fs.DirEntry, error) {
	switch {
	case d.closed:
		return nil, pathError("readdir", d.path, fs.ErrClosed)
	case n <= 0:
		n = len(d.rest)
	case len(d.rest) == 0:
		return nil, io.EOF
	}
	next := d.rest[:min(n, len(d.rest))]
	d.rest = d.rest[len(next):]
	return entriesOf(next), nil
}

// A file is an open file. Its request is sent at the first Read.
type file struct {
	*node
	path   string
	ctx    context.Context // of the request; canceled by Close
	cancel context.CancelFunc
	body   io.ReadCloser // nil before the first Read
	err    error         // returned by all further Reads
}

func newFile(n *node, path string) *file {
	f := &file{node: n, path: path}
	f.ctx, f.cancel = context.WithCancel(n.in.fsys.ctx)
	return f
}

func (f *file) Stat() (fs.FileInfo, error) {
	i, err := f.node.Info()
	if err != nil {
		return nil, pathError("stat", f.path, err)
	}
	return i, nil
}

func (f *file) Read(p []byte) (int, error) {
	if f.err == nil && f.body == nil {
		f.open()
	}
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.body.Read(p)
	if err != nil && err != io.EOF {
		err = pathError("read", f.path, err)
	}
	f.err = err
	return n, err
}

// open sends the request.
func (f *file) open() {
	if f.node.IsDir() {
		f.err = pathError("read", f.path, fs.ErrInvalid)
		return
	}
	resp, err := f.in.fsys.client.Do(f.ctx, f.newRequest())
	if err != nil {
		f.err = pathError("read", f.path, err)
		return
	}
	f.body = resp.Body
}

func (f *file) Close() error {
	f.err = pathError("read", f.path, fs.ErrClosed)
	var err error
	if f.body != nil {
		err = f.body.Close()
	}
	f.cancel()
	return err
}

// readAll reads and closes the file.
func (f *file) readAll() ([]byte, error) {
	defer f.Close()
	return io.ReadAll(f)
}
