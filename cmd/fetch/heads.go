package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"

	"github.com/anyurl/fetch/fetch"
)

// recordHeads keeps the head of every answer on the way to an object, those of
// redirects too, in the buffer that the ctx holds: for -i, -I and -D.
type recordHeads struct{ fetch.Driver }

type headsKey struct{}

func (r recordHeads) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	resp, err := r.Driver.Do(ctx, req)
	if buffer, ok := ctx.Value(headsKey{}).(*bytes.Buffer); ok && err == nil && buffer.Len() < maxHeads && (req.Op == fetch.Stat || len(resp.Head)+len(resp.Header) > 0) {
		buffer.Write(head(resp))
	}
	return resp, err
}

// maxHeads bounds what many redirects with long heads may make us keep.
const maxHeads = 4 << 20

// hearHeads returns the context in which the heads of the answers to req are
// kept if a flag wants them.
func (j *job) hearHeads(ctx context.Context, req *fetch.Request) context.Context {
	j.heads.Reset()
	if !j.flags.include && j.flags.http.dumpHeader == "" && req.Op != fetch.Stat {
		return ctx
	}
	return context.WithValue(ctx, headsKey{}, &j.heads)
}

// dumpHeads writes the heads where -D wants them.
func (j *job) dumpHeads() error { return j.dump(j.heads.Bytes(), j.index > 0 || j.begun > 1) }

// dumpTrailer writes the fields behind the body of resp there too.
func (j *job) dumpTrailer(resp *fetch.Response) error {
	var text []byte
	if resp.Trailer != nil {
		text = fieldLines(resp.Trailer())
	}
	if len(text) == 0 {
		return nil
	}
	return j.dump(text, true)
}

func fieldLines(h fetch.Header) (text []byte) {
	for _, f := range h {
		text = append(text, f.Name+": "+f.Value+"\r\n"...)
	}
	return text
}

// dump writes text to the file of -D, behind what it has or in its place.
func (j *job) dump(text []byte, more bool) error {
	name := j.flags.http.dumpHeader
	switch name {
	case "":
		return nil
	case "-":
		return show(j.stdout, text)
	}
	if done, err := showAt(name, text); done {
		return err
	}
	if j.flags.createDirs {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fetch.Local.With(err)
		}
	}
	mode := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if more {
		mode = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	f, err := os.OpenFile(name, mode, 0o666)
	if err != nil {
		return fetch.Local.With(err)
	}
	_, err = f.Write(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return fetch.Local.With(err)
}
