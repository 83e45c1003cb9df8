package mirror

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/internal/mailstore"
	"github.com/anyurl/fetch/internal/rfc822"
	"github.com/anyurl/fetch/uri"
)

// mailboxes writes each group and each mailbox as an mbox or a Maildir, from
// the messages in the archive, unless the run before did so and none is new.
func (m *mirror) mailboxes(ctx context.Context) error {
	made, err := m.root.ReadFile(mailMade)
	if err != nil || string(made) != m.mailMade(m.total.Run-1) || m.total.messages > 0 || !m.fresh {
		b := &boxes{m: m, ctx: ctx, groups: map[string]bool{}, begun: map[string]bool{}, dirs: map[string]*mailstore.Maildir{}}
		defer b.close()
		if err := b.all(); err != nil {
			return err
		}
	}
	return whole(m.root, mailMade, func(w io.Writer) error {
		_, err := io.WriteString(w, m.mailMade(m.total.Run))
		return err
	})
}

// mailMade is the file that says of which run the mailboxes are.
const mailMade = mailFolder + "/.made"

// mailMade is what stands there once run has made them.
func (m *mirror) mailMade(run int64) string {
	form := map[Mailboxes]string{Mbox: "mbox", Maildir: "maildir"}[m.Mail]
	return fmt.Sprintf("%s, run %d\n", form, run)
}

func (b *boxes) all() error {
	if err := b.find(b.ctx); err != nil {
		return err
	}
	if err := b.m.messages(b.ctx, b.deliver); err != nil {
		return err
	}
	return b.finish()
}

// find gathers the groups that were listed: an article goes into those of them
// that it was posted to.
func (b *boxes) find(ctx context.Context) error {
	for it, err := range b.m.front.Items(ctx, frontier.Done) {
		if err != nil {
			return err
		}
		if u, err := uri.Parse(it.URL); err == nil && isGroup(b.m.schemeOf(u), u) {
			server, box := b.m.boxOf(it.URL)
			b.groups[server+"/"+box] = true
		}
	}
	return nil
}

// messages calls f for each message that was brought.
func (m *mirror) messages(ctx context.Context, f func(frontier.Item) error) error {
	for it, err := range m.front.Items(ctx, frontier.Kept) {
		if err != nil {
			return err
		}
		if it.Last == nil || metaOf(it).From == "" {
			continue
		}
		if err := f(it); err != nil {
			return err
		}
	}
	return nil
}

// boxOf names the box of what was found in a group or a mailbox: the folder of
// the server, which a news URL need not name, and the name there.
func (a *archive) boxOf(from string) (server, box string) {
	u, err := uri.Parse(from)
	if err != nil {
		return "other", "other"
	}
	server = u.Host()
	if port, ok := u.Port(); ok && port != "" {
		server += "+" + port
	}
	return a.layout.Name(cmp.Or(server, u.Scheme())), a.layout.Name(strings.Trim(u.Path(), "/"))
}

// boxes are the mailboxes that are being written.
type boxes struct {
	m      *mirror
	ctx    context.Context
	groups map[string]bool
	dirs   map[string]*mailstore.Maildir
	begun  map[string]bool // part files
	name   string          // of the box that is open
	file   *os.File
	w      *bufio.Writer
	box    *mailstore.Mbox
}

// deliver writes a message into its box, and an article into those of the
// groups too that it was posted to besides.
func (b *boxes) deliver(it frontier.Item) error {
	r, err := b.m.reopen(b.ctx, it.Last)
	if err != nil {
		return err
	}
	defer r.Close()
	server, box := b.m.boxOf(metaOf(it).From)
	names := []string{server + "/" + box}
	head, rest := rfc822.ReadHead(r)
	for _, group := range strings.Split(rfc822.ParseHead(head).Get("Newsgroups"), ",") {
		name := server + "/" + b.m.layout.Name(strings.TrimSpace(group))
		if group != "" && b.groups[name] && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i, name := range names {
		message := io.MultiReader(strings.NewReader(string(head)), rest)
		if i > 0 {
			again, err := b.m.reopen(b.ctx, it.Last)
			if err != nil {
				return err
			}
			defer again.Close()
			message = again
		}
		if err := b.put(name, message, received(it)); err != nil {
			return err
		}
	}
	return nil
}

// received returns when the message of it was received: the date in the listing
// of its mailbox. The zero time is unknown.
func received(it frontier.Item) time.Time {
	if t := metaOf(it).Time; !t.IsZero() {
		return t
	}
	return it.Last.Modified
}

func (b *boxes) put(name string, message io.Reader, received time.Time) error {
	folder := mailFolder + "/" + name
	if b.m.Mail == Maildir {
		dir, err := b.dir(folder)
		if err == nil {
			_, err = dir.Deliver(message, received)
		}
		return err
	}
	if err := b.open(folder + ".mbox"); err != nil {
		return err
	}
	return b.box.Append(message, received)
}

// dir is the Maildir at folder. It is kept: to open it is to read it.
func (b *boxes) dir(folder string) (*mailstore.Maildir, error) {
	if d := b.dirs[folder]; d != nil {
		return d, nil
	}
	if err := b.m.root.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	d := mailstore.MaildirIn(b.m.root, folder)
	b.dirs[folder] = d
	return d, d.Create()
}

// mailFolder is where mailboxes lie in the archive.
const mailFolder = "mail"

// open makes the named mbox the one that is written to.
func (b *boxes) open(name string) error {
	if b.name == name {
		return nil
	}
	if err := b.close(); err != nil {
		return err
	}
	flag := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if !b.begun[name] {
		flag |= os.O_TRUNC
		if err := b.m.root.MkdirAll(filepath.ToSlash(filepath.Dir(name)), 0o777); err != nil {
			return err
		}
	}
	f, err := b.m.root.OpenFile(name+".part", flag, 0o666)
	if err != nil {
		return err
	}
	b.begun[name] = true
	b.name, b.file, b.w = name, f, bufio.NewWriterSize(f, 64<<10)
	b.box = mailstore.NewMbox(b.w)
	return nil
}

func (b *boxes) close() error {
	if b.file == nil {
		return nil
	}
	err := errors.Join(b.w.Flush(), b.file.Sync(), b.file.Close())
	b.file, b.name = nil, ""
	return err
}

// finish gives the files their names, and has the disk take the Maildirs.
func (b *boxes) finish() error {
	if err := b.close(); err != nil {
		return err
	}
	for _, d := range b.dirs {
		if err := d.Sync(); err != nil {
			return err
		}
	}
	for name := range b.begun {
		if err := b.m.root.Rename(name+".part", name); err != nil {
			return err
		}
	}
	return nil
}
