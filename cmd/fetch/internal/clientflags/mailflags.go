package clientflags

import (
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/mailstore"
	"github.com/anyurl/fetch/internal/format/rfc822"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/schemes/mail"
	"github.com/anyurl/fetch/schemes/nntp"
)

// mailFlags are the flags for news and mail in all commands that use the
// network.
type mailFlags struct {
	NewsServer   string
	insecureAuth bool
	sasl         string
	Stores       []string
}

func (f *mailFlags) register(s *options.Set) {
	p := s.Section("News and mail")
	p.StringVar(&f.NewsServer, "news-server", "", "use `HOST[:PORT]` for news URLs without a host")
	p.StringArrayVar(&f.Stores, "mail-store", nil, "look up mid, cid and mailto URLs in the mailbox `STORE`")
	p = s.Section("Authentication")
	p.StringVar(&f.sasl, "sasl", "", "authenticate with SASL `MECHANISM` (imap, pop; +LOGIN: no SASL; *: any)")
	options.SetValues(p.Lookup("sasl"), mail.Mechanisms()...)
	p.BoolVar(&f.insecureAuth, "insecure-auth", false, "allow plaintext passwords for news servers (insecure)")
}

// MailObjectFlags are the flags that select the messages of a URL and their
// output format.
type MailObjectFlags struct {
	headers  bool
	body     bool
	field    string
	describe bool
	mbox     bool
	maildir  string
	part     string
	decode   bool
	after    uint64
	state    string
	Context  string
}

func (f *MailObjectFlags) Register(s *options.Set) {
	p := s.Section("News and mail")
	p.BoolVar(&f.headers, "headers", false, "retrieve only the headers of news articles")
	p.BoolVar(&f.body, "body", false, "retrieve only the bodies of news articles")
	p.StringVar(&f.field, "field", "", "list articles with the header field `NAME` of each")
	p.BoolVar(&f.describe, "describe", false, "list newsgroups with their descriptions")
	p.BoolVar(&f.mbox, "mbox", false, "write messages in mbox format (mboxrd)")
	p.StringVar(&f.maildir, "maildir", "", "deliver messages to the Maildir `DIR`")
	p.StringVar(&f.part, "part", "", "extract part `N` (such as 2.1) of a MIME message")
	p.BoolVar(&f.decode, "decode", false, "decode the yEnc or uuencoded file in news articles")
	p.Uint64Var(&f.after, "since-article", 0, "skip articles up to article `NUMBER`")
	p.StringVar(&f.state, "state", "", "retrieve only new articles since the last run (state in `FILE`)")
	p.StringVar(&f.Context, "in", "", "look up cid URLs in the message at `URL`")
}

// Mailboxes reports whether --mbox or --maildir is set. A mailbox URL then
// returns messages instead of a listing.
func (f *MailObjectFlags) Mailboxes() bool { return f.mbox || f.maildir != "" }

// Apply sets the options for news articles in o. If listing is true, a
// newsgroup is retrieved as a listing of its articles.
func (f *MailObjectFlags) Apply(o *nntp.Options, listing bool) error {
	o.After, o.Field, o.Describe = f.after, f.field, f.describe
	switch {
	case f.headers && f.body:
		return fetch.Usage.Errorf("--headers and --body exclude each other")
	case f.body && f.Mailboxes():
		return fetch.Usage.Errorf("--body excludes --mbox and --maildir, which store complete messages")
	case listing:
		o.View = nntp.Overview
	case f.headers:
		o.View = nntp.Head
	case f.body:
		o.View = nntp.Body
	case f.Mailboxes():
		o.View = nntp.Articles
	}
	if f.state == "" {
		return nil
	}
	o.Marks = &nntp.Marks{}
	file, err := os.Open(f.state)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fetch.Local.With(err)
	}
	defer file.Close()
	o.Marks, err = nntp.ReadMarks(file)
	return err
}

// WriteMarks saves the number of the last article of each newsgroup to the file
// that --state names.
func (f *MailObjectFlags) WriteMarks(marks *nntp.Marks) error {
	if f.state == "" || marks == nil {
		return nil
	}
	file, err := save.Create(f.state, save.Options{})
	if err != nil {
		return err
	}
	defer file.Close()
	if err := marks.Write(file); err != nil {
		return err
	}
	return file.Commit()
}

// Converts reports whether a flag such as --mbox or --decode changes the format
// of messages.
func (f *MailObjectFlags) Converts() bool { return f.Mailboxes() || f.part != "" || f.decode }

// Convert writes the messages of resp in the format that the flags select, such
// as mbox.
func (f *MailObjectFlags) Convert(w io.Writer, resp *fetch.Response, note func(format string, args ...any)) error {
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
		_, err = io.Copy(w, body)
		return err
	case f.decode:
		return decodeFile(w, resp, note)
	case resp.Kind == fetch.Menu:
		return fetch.Unsupported.Errorf("--mbox and --maildir need messages, but the URL names a listing")
	case f.maildir != "":
		return deliver(f.maildir, resp)
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

// messages returns an iterator over the messages in the body of resp.
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

// deliver stores the messages of resp in the Maildir directory with the given
// name.
func deliver(name string, resp *fetch.Response) error {
	dir := mailstore.OpenMaildir(name)
	defer dir.Close()
	if err := dir.Create(); err != nil {
		return console.LocalError(err)
	}
	for message, err := range messages(resp) {
		if err == nil {
			_, err = dir.Deliver(message, message.Received)
		}
		if err != nil {
			return err
		}
	}
	return console.LocalError(dir.Sync())
}
