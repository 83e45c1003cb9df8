package localfile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/schemes/internal/selection"
)

// A driver executes requests for one scheme.
type driver struct {
	scheme Scheme
	root   *os.Root // root directory; nil permits all files
}

func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	p, err := d.scheme.Locate(req.URL)
	if err != nil {
		return nil, err
	}
	if d.scheme.Mount != "" {
		root, err := os.OpenRoot(d.scheme.Mount)
		if err != nil {
			return nil, fetch.Local.Errorf("%s is not mounted: %w", d.scheme.Name, err)
		}
		d = &driver{d.scheme, root}
	}
	f, info, err := d.open(p)
	if err != nil {
		d.closeMount()
		return nil, err
	}
	src := newSource(ctx, f)
	src.done = d.closeMount
	var resp *fetch.Response
	if info.IsDir() {
		resp, err = d.list(ctx, src, p, info, req)
	} else {
		resp, err = readFile(src, p, info, req)
	}
	if err != nil {
		src.Close()
		return nil, err
	}
	if req.Op == fetch.Stat || resp.Unchanged {
		src.Close()
		resp.Body = http.NoBody
	}
	return resp, nil
}

// closeMount closes the directory that was opened for one request.
func (d *driver) closeMount() {
	if d.scheme.Mount != "" {
		d.root.Close()
	}
}

// headLen is the number of bytes in the first read of a file. This prefix is
// sufficient to detect the media type. If a file reports an incorrect size,
// such as the one-page files in /sys, the prefix often is the complete content.
const headLen = 4<<10 + 1

// readFile returns the metadata of a file and opens the range that the request
// specifies.
func readFile(src *source, p Place, info fs.FileInfo, req *fetch.Request) (*fetch.Response, error) {
	resp := &fetch.Response{
		Kind:      fetch.Document,
		Proto:     proto(req),
		Size:      info.Size(),
		Time:      info.ModTime(),
		Validator: validator(info),
	}
	if resp.Unchanged = selection.Excludes(req, resp.Validator, resp.Time); resp.Unchanged {
		return resp, nil
	}
	head := make([]byte, headLen)
	n, err := io.ReadFull(src, head)
	head = head[:n]
	complete := err == io.EOF || err == io.ErrUnexpectedEOF
	if err != nil && !complete {
		return nil, err
	}
	resp.Media = media.TypeOf(p.String(), head)
	if complete && int64(n) != info.Size() || !complete && int64(n) > info.Size() {
		return readUnsized(src, resp, info, head, complete)
	}
	first, end, err := selection.Bounds(req, resp.Validator, resp.Size, "file")
	if err != nil {
		return nil, err
	}
	resp.Offset = first
	if complete {
		resp.Body = body{bytes.NewReader(head[first:end]), src}
		return resp, nil
	}
	if _, err := src.file.Seek(first, io.SeekStart); err != nil {
		return nil, src.wrapError(err)
	}
	resp.Body = &content{source: src, remaining: end - first, info: info}
	return resp, nil
}

// proto returns the name of the scheme, for Response.Proto.
func proto(req *fetch.Request) string { return req.URL.Scheme() }

// maxUnsized is the maximum number of bytes read from a file of unknown length.
// The operating system generates the content of such a file on each read.
const maxUnsized = 64 << 20

// readUnsized returns the Response for a file with an incorrect size, such as a
// file in /proc or /sys. Such a file has no validator and does not support
// ranges. readUnsized returns an error if the size is incorrect because the
// file is being written.
func readUnsized(
	src *source, resp *fetch.Response, info fs.FileInfo, head []byte, complete bool,
) (*fetch.Response, error) {
	if err := src.checkUnchanged(info); err != nil {
		return nil, err
	}
	resp.Validator = ""
	if complete {
		resp.Size = int64(len(head))
		resp.Body = body{bytes.NewReader(head), src}
		return resp, nil
	}
	resp.Size = -1
	resp.Body = body{&limitedReader{io.MultiReader(bytes.NewReader(head), src), maxUnsized}, src}
	return resp, nil
}

// validator returns a string that changes when the file changes, if the file
// system reports the change.
func validator(info fs.FileInfo) string {
	return fmt.Sprintf("%s%x-%x", identity(info), info.Size(), info.ModTime().UnixNano())
}
