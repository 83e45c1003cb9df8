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

	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/internal/format/mailstore"
	"github.com/anyurl/fetch/internal/format/rfc822"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/tree"
	"github.com/anyurl/fetch/uri"
)

// Mail contains the settings for the mailboxes that Derive writes.
type Mail struct {
	Maildir bool  // if true, write Maildirs instead of mboxrd files
	Run     int64 // number of the current run
	Current bool  // if true, the run retrieved no new message

	// IsGroup reports whether u is the URL of a newsgroup.
	IsGroup func(u uri.URI) bool

	// IsMessage reports whether the object at u is a message although it is not
	// immutable. The parameter media is its media type.
	IsMessage func(u uri.URI, media string) bool

	// Origin returns the URL of the listing that contains a message, and the
	// time at which the server received the message. If the item is not a
	// message, the URL is "". If the listing contains no time, the time is
	// zero.
	Origin func(frontier.Item) (listing string, received time.Time)
}

// mailboxes writes each newsgroup and each mailbox as an mbox file or a
// Maildir. If the run retrieved no new message and the mailboxes are intact, it
// writes only the file mailMarker.
func (a *Archive) mailboxes(ctx context.Context, mail *Mail) error {
	made, err := readStart(a.folder.root, mailMarker, 1<<10)
	if err != nil || string(made) != mail.markerText(mail.Run-1) || !mail.Current || !a.mailIntact(ctx) {
		b := &mailboxWriter{
			a: a, mail: mail, ctx: ctx, groups: map[string]bool{}, started: map[string]bool{},
			dirs: map[string]*mailstore.Maildir{}, names: map[string]string{},
		}
		defer b.close()
		a.mailWritten = true
		if err := b.writeAll(); err != nil {
			return err
		}
	}
	return replaceFile(a.folder.root, mailMarker, func(w io.Writer) error {
		_, err := io.WriteString(w, mail.markerText(mail.Run))
		return err
	})
}

// mailIntact reports whether the files in mail/ match the manifest. It returns
// false if there is no valid manifest. It removes files that do not match,
// because a Maildir does not replace its files.
func (a *Archive) mailIntact(ctx context.Context) bool {
	seal, err := a.frontier.ReadSeal(ctx)
	if err != nil {
		return false
	}
	r, intact, err := a.openManifest(seal)
	if err != nil {
		return false
	}
	defer r.close()
	for ; r.more; r.advance() {
		name := nameUnescapes.Replace(r.line.escaped)
		if !intact || !strings.HasPrefix(name, mailFolder+"/") {
			continue
		}
		switch digest, err := digestFile(a.folder.root, name); {
		case errors.Is(err, fs.ErrNotExist) && inMaildir(name):
		case err != nil || digest != r.line.digest:
			a.folder.root.Remove(name) // fails if the file is missing
			intact = false
		}
	}
	return intact
}

// mailMarker is the name of the file that contains the format and the run of
// the mailboxes.
const mailMarker = mailFolder + "/.made"

// markerText returns the content of the file mailMarker for the given run.
func (m *Mail) markerText(run int64) string {
	form := "mbox"
	if m.Maildir {
		form = "maildir"
	}
	return fmt.Sprintf("%s, run %d\n", form, run)
}

func (b *mailboxWriter) writeAll() error {
	if err := b.findGroups(b.ctx); err != nil {
		return err
	}
	if err := b.eachMessage(b.deliver); err != nil {
		return err
	}
	return b.finish()
}

// findGroups finds the newsgroups in the archive. An article is written to each
// of these groups that its header field Newsgroups lists.
func (b *mailboxWriter) findGroups(ctx context.Context) error {
	for it, err := range b.a.frontier.Items(ctx, frontier.Done) {
		if err != nil {
			return err
		}
		if u, err := uri.Parse(it.URL); err == nil && b.mail.IsGroup(u) {
			server, box := b.a.boxName(it.URL)
			b.groups[server+"/"+box] = true
		}
	}
	return nil
}

// eachMessage calls f for each message in the archive. These are all immutable
// objects, and the messages of pop.
func (b *mailboxWriter) eachMessage(f func(it frontier.Item, listing string, received time.Time) error) error {
	every := func(frontier.Item) bool { return true }
	if err := b.eachItem(frontier.Kept, every, f); err != nil || b.mail.IsMessage == nil {
		return err
	}
	return b.eachItem(frontier.Done, func(it frontier.Item) bool {
		u, err := uri.Parse(it.URL)
		return err == nil && it.LastCapture != nil && b.mail.IsMessage(u, it.LastCapture.Media)
	}, f)
}

// eachItem calls f for each item with the given state for which isMessage
// returns true.
func (b *mailboxWriter) eachItem(
	state frontier.State, isMessage func(frontier.Item) bool, f func(it frontier.Item, listing string, received time.Time) error,
) error {
	for it, err := range b.a.frontier.Items(b.ctx, state) {
		if err != nil {
			return err
		}
		if !isMessage(it) {
			continue
		}
		listing, received := b.mail.Origin(it)
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

// boxName returns the directory names for a mailbox and its server. The
// parameter from is the URL of the listing. If the URL has no server, as for
// the scheme news, the name of the scheme replaces the server. The mailbox of
// pop, whose URL has no path, is named INBOX.
func (a *Archive) boxName(from string) (server, box string) {
	u, err := uri.Parse(from)
	if err != nil {
		return "other", "other"
	}
	server = u.Host()
	if port, ok := u.Port(); ok && port != "" {
		server += "+" + port
	}
	return a.layout.Name(cmp.Or(server, u.Scheme())), a.layout.Name(cmp.Or(strings.Trim(u.Path(), "/"), "INBOX"))
}

// A mailboxWriter writes all mailboxes of an archive.
type mailboxWriter struct {
	a       *Archive
	mail    *Mail
	ctx     context.Context
	groups  map[string]bool
	dirs    map[string]*mailstore.Maildir
	started map[string]bool   // set of mbox files that have a partial file
	names   map[string]string // names of mailboxes by their case-folded names
	name    string            // name of the open mbox file, or ""
	file    *os.File
	w       *bufio.Writer
	box     *mailstore.Mbox
}

// deliver writes a message to the mailbox of its listing. It also writes a news
// article to the other groups in the header field Newsgroups.
func (b *mailboxWriter) deliver(it frontier.Item, listing string, received time.Time) error {
	names, err := b.boxes(it, listing)
	if err != nil {
		return err
	}
	for _, name := range names {
		message, err := b.a.Reopen(b.ctx, it.LastCapture)
		if err != nil {
			return err
		}
		err = errors.Join(b.appendMessage(name, message, received), message.Close())
		if err != nil {
			return err
		}
	}
	return nil
}

// boxes returns the names of the mailboxes that contain a message. These are
// the mailbox of its listing and, for a news article, the other groups in the
// header field Newsgroups.
func (b *mailboxWriter) boxes(it frontier.Item, listing string) ([]string, error) {
	r, err := b.a.Reopen(b.ctx, it.LastCapture)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	server, box := b.a.boxName(listing)
	names := []string{server + "/" + box}
	head, _ := rfc822.ReadHeader(r)
	for _, group := range strings.Split(rfc822.ParseHeader(head).Get("Newsgroups"), ",") {
		name := server + "/" + b.a.layout.Name(strings.TrimSpace(group))
		if group != "" && b.groups[name] && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// uniqueName returns name, or name with a suffix if a file system could treat
// it as equal to the name of another mailbox.
func (b *mailboxWriter) uniqueName(name string) string {
	for {
		fold := tree.Fold(name)
		if _, taken := b.names[fold]; !taken {
			b.names[fold] = name
		}
		if b.names[fold] == name {
			return name
		}
		sum := sha256.Sum256([]byte(name))
		name += "~" + hex.EncodeToString(sum[:4])
	}
}

func (b *mailboxWriter) appendMessage(name string, message io.Reader, received time.Time) error {
	folder := mailFolder + "/" + b.uniqueName(name)
	if b.mail.Maildir {
		dir, err := b.maildir(folder)
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

// maildir returns the Maildir in a directory. The Maildir is cached, because
// opening it again would read the directory.
func (b *mailboxWriter) maildir(folder string) (*mailstore.Maildir, error) {
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

// open makes the mbox file with the given name the current file.
func (b *mailboxWriter) open(name string) error {
	if b.name == name {
		return nil
	}
	if err := b.close(); err != nil {
		return err
	}
	flag := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if !b.started[name] {
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
	b.started[name] = true
	b.name, b.file, b.w = name, f, bufio.NewWriterSize(f, 64<<10)
	b.box = mailstore.NewMbox(b.w)
	return nil
}

func (b *mailboxWriter) close() error {
	if b.file == nil {
		return nil
	}
	err := errors.Join(b.w.Flush(), b.file.Sync(), b.file.Close())
	b.file, b.name = nil, ""
	return err
}

// finish renames the partial mbox files and syncs the Maildirs.
func (b *mailboxWriter) finish() error {
	if err := b.close(); err != nil {
		return err
	}
	for _, d := range b.dirs {
		if err := d.Sync(); err != nil {
			return err
		}
	}
	for name := range b.started {
		if err := b.a.folder.root.Rename(name+".part", name); err != nil {
			return err
		}
	}
	return nil
}
