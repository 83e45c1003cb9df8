package main

import (
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/mailstore"
	"github.com/anyurl/fetch/internal/rfc822"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/schemes/mail"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/spf13/pflag"
)

// newsFlags are for news and mail: which server, and in what form messages
// are brought. The file that articles hold is for decode.go.
type newsFlags struct {
	server       string
	headers      bool
	body         bool
	field        string
	describe     bool
	mbox         bool
	maildir      string
	part         string
	decode       bool
	since        uint64
	state        string
	insecureAuth bool
	listing      bool // articles are wanted as entries
}

func (f *newsFlags) register(p *pflag.FlagSet) {
	p.StringVar(&f.server, "news-server", "", "ask `HOST[:PORT]`, or snews://HOST/, where a news URL names none (NNTPSERVER)")
	p.BoolVar(&f.headers, "headers", false, "bring the headers of articles alone")
	p.BoolVar(&f.body, "body", false, "bring the bodies of articles alone")
	p.StringVar(&f.field, "field", "", "list articles by the header field `NAME` alone (:bytes and :lines too)")
	p.BoolVar(&f.describe, "describe", false, "list news groups with what they are about")
	p.BoolVar(&f.mbox, "mbox", false, "write messages as an mbox (mboxrd)")
	p.StringVar(&f.maildir, "maildir", "", "deliver messages into the Maildir `DIR`")
	p.StringVar(&f.part, "part", "", "take out part `N` of a message (1, 2.1)")
	p.BoolVar(&f.decode, "decode", false, "take out the file that a message, or a range of articles, holds by yEnc or uuencode")
	p.Uint64Var(&f.since, "since-article", 0, "leave out articles up to `NUMBER`")
	p.StringVar(&f.state, "state", "", "bring what is new since the last time, as remembered in `FILE`")
	p.BoolVar(&f.insecureAuth, "insecure-auth", false, "send passwords over connections in clear")
}

func (f *newsFlags) options(ssl ftpFlags, compressed bool) (nntp.Options, error) {
	o := nntp.Options{Server: f.server, After: f.since, ClearPassword: f.insecureAuth, Field: f.field, Describe: f.describe, TLS: ssl.tlsMode()}
	if compressed {
		o.Compress = nntp.CompressAlways
	}
	switch {
	case f.headers && f.body:
		return o, fetch.Usage.Errorf("--headers and --body exclude each other")
	case f.body && (f.mbox || f.maildir != ""):
		return o, fetch.Usage.Errorf("--mbox and --maildir want messages, and --body takes their heads off")
	case f.listing:
		o.View = nntp.Overview
	case f.headers:
		o.View = nntp.Head
	case f.body:
		o.View = nntp.Body
	case f.mbox || f.maildir != "":
		o.View = nntp.Articles // of a group its articles, not their overview
	}
	if f.state == "" {
		return o, nil
	}
	o.Marks = &nntp.Marks{}
	file, err := os.Open(f.state)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err != nil {
		return o, fetch.Local.With(err)
	}
	defer file.Close()
	o.Marks, err = nntp.ReadMarks(file)
	return o, err
}

// writeMarks remembers what was read, when all of it is safe.
func (a *app) writeMarks() error {
	if a.flags.news.state == "" || a.marks == nil {
		return nil
	}
	file, err := save.Create(a.flags.news.state, save.Options{})
	if err != nil {
		return err
	}
	defer file.Close()
	if err := a.marks.Write(file); err != nil {
		return err
	}
	return file.Commit()
}

// reshaped reports whether messages are wanted in another form than the
// protocol has them.
func (f *newsFlags) reshaped() bool { return f.mbox || f.maildir != "" || f.part != "" || f.decode }

// reshape writes the messages of body in the form that the flags ask for.
func (f *newsFlags) reshape(w io.Writer, resp *fetch.Response, note func(format string, args ...any)) error {
	switch {
	case f.part != "":
		part, err := rfc822.FindNumber(resp.Body, f.part)
		if err != nil {
			return err
		}
		body, err := part.Body(note)
		if err != nil {
			return err
		}
		return copyAll(w, body)
	case f.decode:
		return decode(w, resp, note)
	case resp.Kind == fetch.Menu:
		return fetch.Unsupported.Errorf("a listing is no message: --mbox and --maildir are for what holds messages")
	case f.maildir != "":
		return f.deliver(resp)
	}
	box := mailstore.NewMbox(w)
	for message, err := range messages(resp) {
		if err == nil {
			err = box.Append(message, message.Received)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// messages are those of a body, whatever it has them in.
func messages(resp *fetch.Response) iter.Seq2[mailstore.Message, error] {
	if resp.Media == mail.MboxMedia {
		return mailstore.ReadMbox(resp.Body)
	}
	return func(yield func(mailstore.Message, error) bool) {
		for r, err := range nntp.Messages(resp.Media, resp.Body) {
			if !yield(mailstore.Message{Reader: r, Received: resp.Time}, err) {
				return
			}
		}
	}
}

func (f *newsFlags) deliver(resp *fetch.Response) error {
	dir := mailstore.OpenMaildir(f.maildir)
	defer dir.Close()
	if err := dir.Create(); err != nil {
		return local(err)
	}
	for message, err := range messages(resp) {
		if err == nil {
			_, err = dir.Deliver(message, message.Received)
		}
		if err != nil {
			return err
		}
	}
	return local(dir.Sync())
}

func copyAll(w io.Writer, r io.Reader) error {
	_, err := io.Copy(w, r)
	return err
}
