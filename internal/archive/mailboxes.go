package archive

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/internal/mailstore"
	"github.com/anyurl/fetch/internal/regularfile"
	"github.com/anyurl/fetch/internal/rfc822"
	"github.com/anyurl/fetch/internal/tree"
	"github.com/anyurl/fetch/uri"
)

// Mail says what Derive makes of messages.
type Mail struct {
	Maildir bool  // one Maildir for each group and mailbox; else one mboxrd file
	Run     int64 // the newest, whose messages they will have
	Current bool  // no message is new since the run before

	// Group reports whether u names a newsgroup.
	Group func(u uri.URI) bool

	// Found returns the URL of the listing that led to a message, "" for none,
	// and the time that it gave the message; zero: unknown.
	Found func(frontier.Item) (listing string, received time.Time)
}

// mailboxes writes each group and each mailbox as an mbox or a Maildir, from
// the messages in the archive, unless those of the run before are current.
func (a *Archive) mailboxes(ctx context.Context, mail *Mail) error {
	made, err := a.readMade()
	if err != nil || string(made) != mail.made(mail.Run-1) || !mail.Current {
		b := &boxes{a: a, mail: mail, ctx: ctx, groups: map[string]bool{}, begun: map[string]bool{}, dirs: map[string]*mailstore.Maildir{}, taken: map[string]string{}}
		defer b.close()
		if err := b.all(); err != nil {
			return err
		}
	}
	return replace(a.folder.root, mailMade, func(w io.Writer) error {
		_, err := io.WriteString(w, mail.made(mail.Run))
		return err
	})
}

// readMade reads mailMade, of which it needs the beginning alone.
func (a *Archive) readMade() ([]byte, error) {
	f, err := regularfile.OpenIn(a.folder.root, mailMade)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 1<<10))
}

// mailMade is the file that says of which run the mailboxes are.
const mailMade = mailFolder + "/.made"

// made returns its text when run has made them.
func (m *Mail) made(run int64) string {
	form := "mbox"
	if m.Maildir {
		form = "maildir"
	}
	return fmt.Sprintf("%s, run %d\n", form, run)
}

func (b *boxes) all() error {
	if err := b.find(b.ctx); err != nil {
		return err
	}
	if err := b.messages(b.deliver); err != nil {
		return err
	}
	return b.finish()
}

// find gathers the groups that were listed: an article goes into those of them
// that it was posted to.
func (b *boxes) find(ctx context.Context) error {
	for it, err := range b.a.frontier.Items(ctx, frontier.Done) {
		if err != nil {
			return err
		}
		if u, err := uri.Parse(it.URL); err == nil && b.mail.Group(u) {
			server, box := b.a.boxOf(it.URL)
			b.groups[server+"/"+box] = true
		}
	}
	return nil
}

// messages calls f for each message that was brought.
func (b *boxes) messages(f func(it frontier.Item, listing string, received time.Time) error) error {
	for it, err := range b.a.frontier.Items(b.ctx, frontier.Kept) {
		if err != nil {
			return err
		}
		listing, received := b.mail.Found(it)
		if it.LastCapture == nil || listing == "" {
			continue
		}
		if received.IsZero() {
			received = it.LastCapture.Modified
		}
		if err := f(it, listing, received); err != nil {
			return err
		}
	}
	return nil
}

// boxOf names the box of what was found in a group or a mailbox: the folder of
// the server, which a news URL need not name, and the name there.
func (a *Archive) boxOf(from string) (server, box string) {
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
	a      *Archive
	mail   *Mail
	ctx    context.Context
	groups map[string]bool
	dirs   map[string]*mailstore.Maildir
	begun  map[string]bool   // part files
	taken  map[string]string // names of boxes, by their folded form
	name   string            // of the box that is open
	file   *os.File
	w      *bufio.Writer
	box    *mailstore.Mbox
}

// deliver writes a message into its box, and an article into those of the
// groups too that it was posted to besides.
func (b *boxes) deliver(it frontier.Item, listing string, received time.Time) error {
	r, err := b.a.Reopen(b.ctx, it.LastCapture)
	if err != nil {
		return err
	}
	defer r.Close()
	server, box := b.a.boxOf(listing)
	names := []string{server + "/" + box}
	head, rest := rfc822.ReadHeader(r)
	for _, group := range strings.Split(rfc822.ParseHeader(head).Get("Newsgroups"), ",") {
		name := server + "/" + b.a.layout.Name(strings.TrimSpace(group))
		if group != "" && b.groups[name] && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i, name := range names {
		message := io.MultiReader(strings.NewReader(string(head)), rest)
		if i > 0 {
			again, err := b.a.Reopen(b.ctx, it.LastCapture)
			if err != nil {
				return err
			}
			defer again.Close()
			message = again
		}
		if err := b.put(name, message, received); err != nil {
			return err
		}
	}
	return nil
}

// distinct returns name, or another name where a box has one that some file
// system treats as the same.
func (b *boxes) distinct(name string) string {
	for {
		fold := tree.Fold(name)
		if _, taken := b.taken[fold]; !taken {
			b.taken[fold] = name
		}
		if b.taken[fold] == name {
			return name
		}
		sum := sha256.Sum256([]byte(name))
		name += "~" + hex.EncodeToString(sum[:4])
	}
}

func (b *boxes) put(name string, message io.Reader, received time.Time) error {
	folder := mailFolder + "/" + b.distinct(name)
	if b.mail.Maildir {
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

// dir returns the Maildir at folder. It is kept, because to open it is to read
// it.
func (b *boxes) dir(folder string) (*mailstore.Maildir, error) {
	if d := b.dirs[folder]; d != nil {
		return d, nil
	}
	if err := b.a.folder.root.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	d := mailstore.MaildirIn(b.a.folder.root, folder)
	b.dirs[folder] = d
	return d, d.Create()
}

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
		flag |= os.O_EXCL
		if err := b.a.folder.root.MkdirAll(filepath.ToSlash(filepath.Dir(name)), 0o777); err != nil {
			return err
		}
		if err := b.a.folder.root.Remove(name + ".part"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	f, err := regularfile.OpenFileIn(b.a.folder.root, name+".part", flag, 0o666)
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
		if err := b.a.folder.root.Rename(name+".part", name); err != nil {
			return err
		}
	}
	return nil
}
