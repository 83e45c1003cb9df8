package gopher

import (
	"context"
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// request connects to the server, sends a request and returns the connection for
// the response.
func (d *driver) request(ctx context.Context, req *fetch.Request, l locator) (*sessions.Single, error) {
	sent := []byte(l.requestLine() + "\r\n")
	logged := sent
	if f := l.plus.form; f != nil {
		line := sent
		sent = append(line[:len(line):len(line)], f.Encode(false)...)
		logged = append(line[:len(line):len(line)], f.Encode(true)...)
	}
	return d.send(ctx, req, sent, logged)
}

// send connects to the server and sends the bytes in sent. The trace receives
// logged, which is the same request with masked passwords.
func (d *driver) send(ctx context.Context, req *fetch.Request, sent, logged []byte) (*sessions.Single, error) {
	return sessions.OpenSingle(ctx, d.env, req, port, req.URL.Scheme() == "gophers", sent, logged)
}

// stringBody returns a response body that contains text.
func stringBody(text string) io.ReadCloser { return io.NopCloser(strings.NewReader(text)) }
