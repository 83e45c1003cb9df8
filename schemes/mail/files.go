package mail

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"iter"
	"net/mail"
	"os"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/mailstore"
	"github.com/anyurl/fetch/internal/rfc822"
	"github.com/anyurl/fetch/uri"
)

// maildir is a directory of messages as a store.
type maildir struct{ path string }

func (m maildir) find(ctx context.Context, _ *fetch.Request, id string) (*fetch.Response, error) {
	return findFile(ctx, m.all, id)
}

func (m maildir) about(ctx context.Context, _ *fetch.Request, wanted addressSet) iter.Seq2[letter, error] {
	return aboutFiles(ctx, m.all, wanted)
}

func (m maildir) all(yield func(*stored, error) bool) {
	for path, err := range mailstore.OpenMaildir(m.path).Messages() {
		if err != nil {
			yield(nil, err)
			return
		}
		f, err := os.Open(path)
		if os.IsNotExist(err) {
			continue // a reader has just moved it
		}
		s := &stored{size: -1, file: f}
		if err == nil {
			var info os.FileInfo
			if info, err = f.Stat(); err == nil {
				s.size, s.name, s.received = info.Size(), info.Name(), info.ModTime()
				s.url, err = uri.Parse("file://" + uri.Escape(path, uri.Path))
			}
		}
		if err == nil {
			s.read(f)
		}
		more := yield(s, err)
		s.done()
		if !more || err != nil {
			return
		}
	}
}

// mbox is a file of messages as a store.
type mbox struct{ path string }

func (m mbox) find(ctx context.Context, _ *fetch.Request, id string) (*fetch.Response, error) {
	return findFile(ctx, m.all, id)
}

func (m mbox) about(ctx context.Context, _ *fetch.Request, wanted addressSet) iter.Seq2[letter, error] {
	return aboutFiles(ctx, m.all, wanted)
}

func (m mbox) all(yield func(*stored, error) bool) {
	f, err := os.Open(m.path)
	if err != nil {
		yield(nil, err)
		return
	}
	var last *stored
	for r, err := range mailstore.ReadMbox(f) {
		last = &stored{size: -1, file: f, received: r.Received}
		if err == nil {
			last.read(r)
		}
		if !yield(last, err) || err != nil {
			break
		}
	}
	if last == nil || !last.kept {
		f.Close()
	}
}

// stored is a message in a file. It is closed when the next one comes, unless
// it is kept.
type stored struct {
	header   fetch.Header
	text     io.Reader
	size     int64   // -1: unknown
	url      uri.URI // zero: it has no file of its own
	name     string  // of that file
	received time.Time
	file     *os.File
	kept     bool
}

// date returns the date of the message, or else when the store received it.
func (s *stored) date() time.Time {
	if t := rfc822.ParseDate(s.header.Get("Date")); !t.IsZero() {
		return t
	}
	return s.received.UTC()
}

func (s *stored) read(r io.Reader) {
	head, rest := rfc822.ReadHeader(r)
	s.header = rfc822.ParseHeader(head)
	s.text = io.MultiReader(bytes.NewReader(head), rest)
}

func (s *stored) done() {
	if !s.kept {
		s.file.Close()
	}
}

// stores of files yield each message in turn.
type scan func(yield func(*stored, error) bool)

func findFile(ctx context.Context, all scan, id string) (*fetch.Response, error) {
	for s, err := range all {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, storeFault(err)
		}
		if strings.TrimSpace(s.header.Get("Message-ID")) == id {
			s.kept = true
			return &fetch.Response{Kind: fetch.Document, Media: messageMedia, Size: s.size, Header: s.header,
				Time: s.date(), Body: reading{ctx, s.text, s.file}}, nil
		}
	}
	return nil, fetch.NotFound.Errorf("no message with that id in the store")
}

func aboutFiles(ctx context.Context, all scan, wanted addressSet) iter.Seq2[letter, error] {
	return func(yield func(letter, error) bool) {
		for s, err := range all {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(letter{}, storeFault(err))
				return
			}
			if !wanted.inHead(s.header) {
				continue
			}
			l := letter{headEntry(s), func() (io.ReadCloser, error) { return io.NopCloser(s.text), nil }}
			if !yield(l, nil) {
				return
			}
		}
	}
}

// storeFault is Local for what the system says of a file.
func storeFault(err error) error {
	if f := fetch.FaultOf(err); f == fetch.Internal || f == fetch.Connect {
		return fetch.Local.With(err)
	}
	return err
}

// reading is a message under way; it ends with its request.
type reading struct {
	ctx context.Context
	io.Reader
	io.Closer
}

func (o reading) Read(p []byte) (int, error) {
	if err := o.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := o.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = storeFault(err)
	}
	return n, err
}

// headEntry is what the head of a message says of it.
func headEntry(s *stored) fetch.Entry {
	e := fetch.Entry{Kind: fetch.Document, Media: messageMedia, Size: s.size, URL: s.url, Extra: map[string]string{}}
	for key, name := range map[string]string{"subject": "Subject", "from": "From", "to": "To"} {
		setExtra(e.Extra, key, rfc822.DecodeWords(s.header.Get(name)))
	}
	setExtra(e.Extra, "message_id", strings.Trim(s.header.Get("Message-ID"), " <>"))
	e.Name = cmp.Or(s.name, e.Extra["from"], "message") // where it has neither subject nor id
	e.Time = s.date()
	return e
}

// An addressSet is what is between the sides of mailto URLs: addresses in lower
// case.
type addressSet []string

func (a addressSet) has(address string) bool {
	for _, one := range a {
		if strings.EqualFold(one, address) {
			return true
		}
	}
	return false
}

func (a addressSet) inHead(h fetch.Header) bool {
	for _, name := range []string{"From", "Sender", "To", "Cc"} {
		for _, value := range h.Values(name) {
			list, err := mail.ParseAddressList(value)
			for _, one := range list {
				if a.has(one.Address) {
					return true
				}
			}
			if err != nil && a.inText(value) {
				return true
			}
		}
	}
	return false
}

// inText finds addresses in a field that is not written as it should be.
func (a addressSet) inText(text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t,;<>()\"", r) }) {
		if a.has(word) {
			return true
		}
	}
	return false
}
