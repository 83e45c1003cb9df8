package mirror

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anyurl/fetch/internal/mailstore"
	"github.com/anyurl/fetch/mirror/frontier"
	"github.com/anyurl/fetch/mirror/tree"
	"github.com/anyurl/fetch/uri"
)

// mailboxes writes each group and each mailbox as an mbox or a Maildir, from
// the messages in the archive.
func (m *mirror) mailboxes(ctx context.Context) error {
	if _, err := m.root.Stat(mailFolder); err == nil && m.total.messages == 0 && m.fresh {
		return nil
	}
	b := &boxes{m: m, ctx: ctx, groups: map[string]bool{}, begun: map[string]bool{}}
	defer b.close()
	if err := b.find(ctx); err != nil {
		return err
	}
	if err := m.messages(ctx, b.deliver); err != nil {
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
		if u, err := uri.Parse(it.URL); err == nil && isGroup(u) {
			server, box := boxOf(it.URL)
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
func boxOf(from string) (server, box string) {
	u, err := uri.Parse(from)
	if err != nil {
		return "other", "other"
	}
	server = u.Host()
	if port, ok := u.Port(); ok && port != "" {
		server += "+" + port
	}
	return tree.Name(cmp.Or(server, u.Scheme())), tree.Name(strings.Trim(u.Path(), "/"))
}

// boxes are the mailboxes that are being written.
type boxes struct {
	m      *mirror
	ctx    context.Context
	groups map[string]bool
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
	server, box := boxOf(metaOf(it).From)
	names := []string{server + "/" + box}
	head, rest := mailstore.ReadHead(r)
	for _, group := range strings.Split(mailstore.ParseHead(head).Get("Newsgroups"), ",") {
		name := server + "/" + tree.Name(strings.TrimSpace(group))
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
		if err := b.put(name, message); err != nil {
			return err
		}
	}
	return nil
}

func (b *boxes) put(name string, message io.Reader) error {
	folder := mailFolder + "/" + name
	if b.m.Mail == Maildir {
		if err := b.m.root.MkdirAll(folder, 0o777); err != nil {
			return err
		}
		dir := mailstore.OpenMaildir(filepath.Join(b.m.Dir, filepath.FromSlash(folder)))
		if err := dir.Create(); err != nil {
			return err
		}
		_, err := dir.Deliver(message)
		return err
	}
	if err := b.open(folder + ".mbox"); err != nil {
		return err
	}
	return b.box.Append(message)
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

// finish gives the files their names.
func (b *boxes) finish() error {
	if err := b.close(); err != nil {
		return err
	}
	for name := range b.begun {
		if err := b.m.root.Rename(name+".part", name); err != nil {
			return err
		}
	}
	return nil
}
