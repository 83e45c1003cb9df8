package download

import (
	"bytes"
	"io"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/interactive"
	"github.com/anyurl/fetch/cmd/fetch/internal/listing"
	"github.com/anyurl/fetch/cmd/fetch/internal/sink"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/internal/wire/splice"
)

// A bodyForm is the form in which a body is written.
type bodyForm int

const (
	unchanged     bodyForm = iota
	noBody                 // only the header, because of -I
	numberedMenu           // the entries of a listing with numbers, on a terminal
	entryNames             // the names in a listing, if its protocol has no format
	liveSession            // the connection to an interactive server
	convertedMail          // a mailbox, or a part of a message
)

// formOf returns the form in which the body of resp is written to out.
func (j *Job) formOf(out sink.Sink, req *fetch.Request, resp *fetch.Response) bodyForm {
	switch menu := resp.Kind == fetch.Menu && !j.native; {
	case req.Op == fetch.Stat:
		return noBody
	case menu && out.Terminal():
		return numberedMenu
	case menu && entries.IsMedia(resp.Media):
		return entryNames
	case resp.Input != nil:
		return liveSession
	case j.flags.Mail.Converts():
		return convertedMail
	}
	return unchanged
}

// writeBody writes the body of resp to out, after the header if -i or -I is set.
func (j *Job) writeBody(out sink.Sink, req *fetch.Request, resp *fetch.Response) error {
	form := j.formOf(out, req, resp)
	if j.flags.Body.Include || form == noBody {
		if _, err := out.Write(j.headers.Bytes()); err != nil || form == noBody {
			return console.LocalError(err)
		}
	}
	resp.Body = j.Measure.Body(resp.Body)
	switch form {
	case numberedMenu:
		return listing.WriteMenu(out, resp)
	case entryNames:
		return listing.WriteNames(out, resp)
	case liveSession:
		return j.session(out, resp)
	}
	if out.Terminal() {
		if err := requireText(resp); err != nil {
			return err
		}
	}
	if form == convertedMail {
		return console.LocalError(j.flags.Mail.Convert(out, resp, j.Note))
	}
	return j.copyBody(out, resp)
}

// copyBody copies the bytes of the body of resp to out.
func (j *Job) copyBody(out sink.Sink, resp *fetch.Response) error {
	j.processors.observe(resp)
	buffer := j.buffer(resp.Size)
	defer j.buffers.Put(buffer)
	var err error
	if f, ok := out.(interface {
		CopyFrom(io.Reader, []byte) (int64, error)
	}); ok { // a save.File
		_, err = f.CopyFrom(resp.Body, *buffer)
	} else {
		_, err = splice.Copy(out, resp.Body, *buffer)
	}
	return console.LocalError(err)
}

// copyBufferSize is the size of a copy buffer in bytes. With this size, system
// calls do not limit the speed.
const copyBufferSize = 256 << 10

// smallBufferSize is the size of the copy buffer for bodies of at most this
// size. Clearing a large buffer takes longer than reading a small body.
const smallBufferSize = 32 << 10

// buffer returns a buffer from the pool of buffers, or a new one, for a body of
// the given size. The size is -1 if it is unknown.
func (r *Retrieval) buffer(size int64) *[]byte {
	n := copyBufferSize
	if 0 <= size && size <= smallBufferSize {
		n = smallBufferSize
	}
	if b, ok := r.buffers.Get().(*[]byte); ok && len(*b) >= n {
		return b
	}
	b := make([]byte, n)
	return &b
}

// session connects standard input and output to an interactive server, such as
// a telnet server. On a terminal, the user can leave the session with
// Control-].
func (j *Job) session(out sink.Sink, resp *fetch.Response) error {
	if out.Terminal() && j.console != nil {
		j.Note("Control-] leaves the session")
		return console.LocalError(j.console.Run(j.ctx, j.Output, resp))
	}
	return console.LocalError(interactive.Copy(out, j.Stdin, resp))
}

// requireText returns an error if the body of resp is binary, because binary
// data must not be written to a terminal.
func requireText(resp *fetch.Response) error {
	prefix := make([]byte, 1024)
	n, err := io.ReadAtLeast(resp.Body, prefix, 1) // the server may send more bytes later
	if err != nil && err != io.EOF {
		return err
	}
	prefix = prefix[:n]
	if !tty.IsText(prefix) {
		return fetch.Local.Errorf("the body is binary and standard output is a terminal: use -o FILE")
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(prefix), resp.Body), resp.Body}
	return nil
}
