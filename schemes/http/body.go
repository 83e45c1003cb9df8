package http

import (
	"context"
	"io"
	"sync"
)

// body is the body of an exchange, which it ends.
type body struct {
	io.ReadCloser
	ctx    context.Context
	x      *exchange
	ending sync.Once
}

func newBody(ctx context.Context, x *exchange) *body {
	return &body{ReadCloser: x.resp.Body, ctx: ctx, x: x}
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.end()
		if err != io.EOF {
			err = bodyFault(b.ctx, err)
		}
	}
	return n, err
}

// Close may be called beside Read.
func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.end()
	return err
}

func (b *body) end() {
	b.ending.Do(func() {
		if w, ok := b.x.conn.(*wire); ok && w.spoilt() {
			b.x.trace.Notef("server sent more than the response: the rest was cut, the connection dropped")
		}
		b.x.done()
	})
}
