package file

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/media"
)

type driver struct{ root *os.Root }

func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	p, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	f, info, err := d.open(p)
	if err != nil {
		return nil, err
	}
	src := hold(ctx, f)
	var resp *fetch.Response
	if info.IsDir() {
		resp, err = d.list(ctx, src, p, info, req)
	} else {
		resp, err = read(src, p, info, req)
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

// headLen is how much of a file is read at once: enough to know its type, and
// the whole of what may say a wrong length, which are files of a page.
const headLen = 4<<10 + 1

// read describes a file and prepares the part of it that req wants.
func read(src *source, p place, info fs.FileInfo, req *fetch.Request) (*fetch.Response, error) {
	resp := &fetch.Response{
		Kind:      fetch.Document,
		Proto:     "file",
		Size:      info.Size(),
		Time:      info.ModTime(),
		Validator: validator(info),
	}
	if resp.Unchanged = unchanged(req, resp); resp.Unchanged {
		return resp, nil
	}
	head := make([]byte, headLen)
	n, err := io.ReadFull(src, head)
	head = head[:n]
	whole := err == io.EOF || err == io.ErrUnexpectedEOF
	if err != nil && !whole {
		return nil, err
	}
	resp.Media = media.TypeOf(p.String(), head)
	if whole && int64(n) != info.Size() || !whole && int64(n) > info.Size() {
		return made(src, resp, info, head, whole)
	}
	first, end, err := part(req, resp)
	if err != nil {
		return nil, err
	}
	resp.Offset = first
	if whole {
		resp.Body = body{bytes.NewReader(head[first:end]), src}
		return resp, nil
	}
	if _, err := src.file.Seek(first, io.SeekStart); err != nil {
		return nil, src.fail(err)
	}
	resp.Body = &content{source: src, left: end - first, info: info}
	return resp, nil
}

// maxMade bounds files that the system makes up as they are read, for nobody
// knows their length before.
const maxMade = 64 << 20

// made is read for a file whose length is not what it says: one of /proc or
// /sys, unless it is being written to. Such a file has no parts and is never
// the same again.
func made(src *source, resp *fetch.Response, info fs.FileInfo, head []byte, whole bool) (*fetch.Response, error) {
	if err := src.changed(info); err != nil {
		return nil, err
	}
	resp.Validator = ""
	if whole {
		resp.Size = int64(len(head))
		resp.Body = body{bytes.NewReader(head), src}
		return resp, nil
	}
	resp.Size = -1
	resp.Body = body{&bounded{io.MultiReader(bytes.NewReader(head), src), maxMade}, src}
	return resp, nil
}

// validator is the same for the same bytes, as far as a file system can tell.
func validator(info fs.FileInfo) string {
	return fmt.Sprintf("%s%x-%x", identity(info), info.Size(), info.ModTime().UnixNano())
}

// unchanged reports whether a condition of req does not hold.
func unchanged(req *fetch.Request, resp *fetch.Response) bool {
	return req.IfNot != "" && req.IfNot == resp.Validator ||
		!req.Since.IsZero() && !resp.Time.After(req.Since) ||
		!req.Before.IsZero() && resp.Time.After(req.Before)
}

// part returns the bounds of what req wants: the whole where the object is
// not the one that req began with, and nothing where all of it is there.
func part(req *fetch.Request, resp *fetch.Response) (first, end int64, err error) {
	if req.IfSame != "" && req.IfSame != resp.Validator {
		return 0, resp.Size, nil
	}
	first, end, ok := req.Range.Of(resp.Size)
	if !ok && first != resp.Size {
		return 0, 0, fetch.Denied.Errorf("range begins at byte %d of %d", first, resp.Size)
	}
	return first, max(first, end), nil
}
