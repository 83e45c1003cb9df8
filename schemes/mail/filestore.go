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
	"github.com/anyurl/fetch/internal/format/mailstore"
	"github.com/anyurl/fetch/internal/format/rfc822"
	"github.com/anyurl/fetch/uri"
)

// A fileStore is a mail store in files: a Maildir directory or an mbox file. The
// function iterates over the messages.
type fileStore func(yield func(*fileMessage, error) bool)

// newMaildir returns the store in a Maildir directory.
func newMaildir(path string) fileStore {
	return func(yield func(*fileMessage, error) bool) { readMaildir(path, yield) }
}

func readMaildir(dir string, yield func(*fileMessage, error) bool) {
	for path, err := range mailstore.OpenMaildir(dir).Messages() {
		if err != nil {
			yield(nil, err)
			return
		}
		f, err := os.Open(path)
		if os.IsNotExist(err) {
			continue // a mail reader has just moved the message
		}
		s := &fileMessage{size: -1, file: f}
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
		s.release()
		if !more || err != nil {
			return
		}
	}
}

// newMbox returns the store in an mbox file.
func newMbox(path string) fileStore {
	return func(yield func(*fileMessage, error) bool) { readMbox(path, yield) }
}

func readMbox(path string, yield func(*fileMessage, error) bool) {
	f, err := os.Open(path)
	if err != nil {
		yield(nil, err)
		return
	}
	var last *fileMessage
	for r, err := range mailstore.ReadMbox(f) {
		last = &fileMessage{size: -1, file: f, received: r.Received}
		if err == nil {
			last.read(r)
		}
		if !yield(last, err) || err != nil {
			break
		}
	}
	if last == nil || !last.detached {
		f.Close()
	}
}

// A fileMessage is a message in a Maildir or mbox file. The iterator over the
// messages closes the file before the next message, unless detached is true.
type fileMessage struct {
	header   fetch.Header
	body     io.Reader
	size     int64   // bytes, or -1 if unknown
	url      uri.URI // zero for a message in an mbox
	name     string  // base name of the message file, or ""
	received time.Time
	file     *os.File
	detached bool
}

// date returns the time in the Date field of the message. If the field is
// missing or invalid, date returns the time when the store received the
// message.
func (s *fileMessage) date() time.Time {
	if t := rfc822.ParseDate(s.header.Get("Date")); !t.IsZero() {
		return t
	}
	return s.received.UTC()
}

func (s *fileMessage) read(r io.Reader) {
	head, rest := rfc822.ReadHeader(r)
	s.header = rfc822.ParseHeader(head)
	s.body = io.MultiReader(bytes.NewReader(head), rest)
}

func (s *fileMessage) release() {
	if !s.detached {
		s.file.Close()
	}
}

func (messages fileStore) find(ctx context.Context, _ *fetch.Request, id string) (*fetch.Response, error) {
	for s, err := range messages {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, storeFault(err)
		}
		if strings.TrimSpace(s.header.Get("Message-ID")) == id {
			s.detached = true
			return &fetch.Response{Kind: fetch.Document, Media: messageMedia, Size: s.size, Header: s.header,
				Time: s.date(), Body: contextBody{ctx, s.body, s.file}}, nil
		}
	}
	return nil, fetch.NotFound.Errorf("no message with that id in the store")
}

func (messages fileStore) matching(
	ctx context.Context, _ *fetch.Request, wanted addressSet,
) iter.Seq2[storedMessage, error] {
	return func(yield func(storedMessage, error) bool) {
		for s, err := range messages {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(storedMessage{}, storeFault(err))
				return
			}
			if !wanted.matchesHeader(s.header) {
				continue
			}
			l := storedMessage{headerEntry(s), func() (io.ReadCloser, error) { return io.NopCloser(s.body), nil }}
			if !yield(l, nil) {
				return
			}
		}
	}
}

// storeFault marks err as a fetch.Local error if it is a file system error.
// Other errors are returned unchanged.
func storeFault(err error) error {
	if f := fetch.FaultOf(err); f == fetch.Internal || f == fetch.Connect {
		return fetch.Local.With(err)
	}
	return err
}

// A contextBody is a message body whose Read fails after the context is
// canceled.
type contextBody struct {
	ctx context.Context
	io.Reader
	io.Closer
}

func (o contextBody) Read(p []byte) (int, error) {
	if err := o.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := o.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = storeFault(err)
	}
	return n, err
}

// headerEntry returns a listing entry with the header fields of the message s.
func headerEntry(s *fileMessage) fetch.Entry {
	e := fetch.Entry{Kind: fetch.Document, Media: messageMedia, Size: s.size, URL: s.url, Extra: map[string]string{}}
	for key, name := range map[string]string{"subject": "Subject", "from": "From", "to": "To"} {
		setExtra(e.Extra, key, rfc822.DecodeWords(s.header.Get(name)))
	}
	setExtra(e.Extra, "message_id", strings.Trim(s.header.Get("Message-ID"), " <>"))
	e.Name = cmp.Or(s.name, e.Extra["from"], "message") // withMidURL prefers the subject or the Message-ID
	e.Time = s.date()
	return e
}

// An addressSet holds the mail addresses of a mailto URL in lower case.
type addressSet []string

func (a addressSet) contains(address string) bool {
	for _, one := range a {
		if strings.EqualFold(one, address) {
			return true
		}
	}
	return false
}

func (a addressSet) matchesHeader(h fetch.Header) bool {
	for _, name := range []string{"From", "Sender", "To", "Cc"} {
		for _, value := range h.Values(name) {
			list, err := mail.ParseAddressList(value)
			for _, one := range list {
				if a.contains(one.Address) {
					return true
				}
			}
			if err != nil && a.matchesText(value) {
				return true
			}
		}
	}
	return false
}

// matchesText reports whether text contains an address of the set. It is used
// for address lists that cannot be parsed.
func (a addressSet) matchesText(text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t,;<>()\"", r) }) {
		if a.contains(word) {
			return true
		}
	}
	return false
}
