package download

import (
	"bytes"
	"context"
	"io"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/fetch"
)

// A headerRecorder is a middleware that copies the header of every response,
// including redirects, to a buffer in the context. The flags -i, -I and -D
// print the buffer.
type headerRecorder struct{ fetch.Driver }

// headersKey is the context key for the *bytes.Buffer of a headerRecorder.
type headersKey struct{}

// maxHeaders limits the total size of the headers of a response and of its
// redirects, in bytes.
const maxHeaders = 4 << 20

func (r headerRecorder) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	resp, err := r.Driver.Do(ctx, req)
	buffer, ok := ctx.Value(headersKey{}).(*bytes.Buffer)
	if !ok || err != nil || buffer.Len() >= maxHeaders {
		return resp, err
	}
	if req.Op == fetch.Stat || len(resp.Head)+len(resp.Header) > 0 {
		buffer.Write(clientflags.ResponseHeader(resp))
	}
	return resp, nil
}

// withHeaderBuffer returns a context that makes the headerRecorder copy headers
// to the given buffer.
func withHeaderBuffer(ctx context.Context, buffer *bytes.Buffer) context.Context {
	return context.WithValue(ctx, headersKey{}, buffer)
}

// dumpHeader writes the header of a response for -D. The first header of the
// command replaces the content of the file, and the others are appended.
func (r *Retrieval) dumpHeader(output io.Writer, text []byte) error {
	if r.flags.HTTP.DumpHeader == "-" { // the write may wait for the output of other jobs
		return r.flags.DumpHeader(output, text, true)
	}
	r.dumping.Lock()
	defer r.dumping.Unlock()
	appended := r.dumped
	r.dumped = true
	return r.flags.DumpHeader(output, text, appended)
}
