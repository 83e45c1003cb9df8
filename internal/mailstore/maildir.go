package mailstore

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A Maildir is a directory with a file for each message: new ones in "new",
// those that a reader has seen in "cur", unfinished ones in "tmp". It is not
// safe for concurrent use; other programs may use the directory meanwhile.
//
// Deliver follows no symbolic link that leads out of the directory.
type Maildir struct {
	dir       string             // as the caller named it; "": below a root of the caller
	root      *os.Root           // that Deliver stays within; nil: not open yet
	path      string             // the directory, below root
	delivered map[messageID]bool // messages that Deliver has to leave alone; nil: not read yet
}

// A sum names a message within the names that Deliver gives.
type messageID [16]byte

func messageIDOf(full [sha256.Size]byte) messageID { return messageID(full[:len(messageID{})]) }

// OpenMaildir returns the Maildir at dir, which need not be there yet.
func OpenMaildir(dir string) *Maildir { return &Maildir{dir: dir, path: "."} }

// MaildirIn returns the Maildir at name below root, which stays the caller's.
// Delivery never leaves root.
func MaildirIn(root *os.Root, name string) *Maildir { return &Maildir{root: root, path: name} }

// Create makes what is missing of the directory.
func (d *Maildir) Create() error {
	if d.root == nil {
		if err := os.MkdirAll(d.dir, 0o700); err != nil {
			return err
		}
	}
	if err := d.openRoot(); err != nil {
		return err
	}
	for _, sub := range []string{"tmp", "new", "cur"} {
		if err := d.root.MkdirAll(path.Join(d.path, sub), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// open opens the root of the directory unless it is open.
func (d *Maildir) openRoot() (err error) {
	if d.root == nil {
		d.root, err = os.OpenRoot(d.dir)
	}
	return err
}

// Close closes the directory of [OpenMaildir].
func (d *Maildir) Close() error {
	if d.dir == "" || d.root == nil {
		return nil
	}
	err := d.root.Close()
	d.root = nil
	return err
}

// Deliver writes a message as it is, whole or not at all. Its name is made of
// its date and its message-id, or of its bytes where it has none: one that was
// delivered before is not written twice, and fresh is false. Where the head has
// no date the name has received; the zero time is unknown. Call Sync after the
// last one.
func (d *Maildir) Deliver(message io.Reader, received time.Time) (fresh bool, err error) {
	if err := d.readDelivered(); err != nil {
		return false, err
	}
	r := bufio.NewReaderSize(&stickyReader{r: message}, bufferSize)
	h := peekHeader(r)
	id := h.Get("Message-Id")
	s := messageIDOf(sha256.Sum256([]byte(id)))
	if id != "" && d.delivered[s] {
		_, err := io.Copy(io.Discard, r) // which may end too early
		return false, err
	}
	f, temp, err := d.createTemp()
	if err != nil {
		return false, err
	}
	defer d.root.Remove(temp) // there no more, if all went well
	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, hash), r)
	if err == nil {
		err = f.Sync()
	}
	if err = closeAfter(f, err); err != nil {
		return false, err
	}
	if id == "" {
		s = messageIDOf([sha256.Size]byte(hash.Sum(nil)))
	}
	if d.delivered[s] {
		return false, nil
	}
	name := strconv.FormatInt(messageDate(h, received).Unix(), 10) + "." + hex.EncodeToString(s[:]) + nameSuffix
	if err := d.root.Rename(temp, path.Join(d.path, "new", name)); err != nil {
		return false, err
	}
	d.delivered[s] = true
	return true, nil
}

// temp creates a file in tmp and returns it with its name in the directory.
func (d *Maildir) createTemp() (f *os.File, name string, err error) {
	for {
		name = path.Join(d.path, "tmp", "fetch."+strconv.FormatUint(rand.Uint64(), 36))
		f, err = d.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return f, name, err
		}
	}
}

const nameSuffix = ".fetch"

// list learns once which messages are there.
func (d *Maildir) readDelivered() error {
	if d.delivered != nil {
		return nil
	}
	if err := d.openRoot(); err != nil {
		return err
	}
	dir, err := fs.Sub(d.root.FS(), d.path)
	if err != nil {
		return err
	}
	have := map[messageID]bool{}
	for file, err := range messagePaths(dir) {
		if err != nil {
			return err
		}
		// A reader appends its marks to the name: ":2,S".
		name, _, _ := strings.Cut(path.Base(file), ":")
		_, text, _ := strings.Cut(strings.TrimSuffix(name, nameSuffix), ".")
		if b, err := hex.DecodeString(text); err == nil && len(b) == len(messageID{}) {
			have[messageID(b)] = true
		}
	}
	d.delivered = have
	return nil
}

// Sync has what was delivered survive a loss of power.
func (d *Maildir) Sync() error {
	if err := d.openRoot(); err != nil {
		return err
	}
	f, err := d.root.Open(path.Join(d.path, "new"))
	if err != nil {
		return err
	}
	return closeAfter(f, f.Sync())
}

// Messages returns the paths of all messages, the new ones first, in the order
// of their names.
func (d *Maildir) Messages() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for file, err := range messagePaths(os.DirFS(d.dir)) {
			if err == nil {
				file = filepath.Join(d.dir, filepath.FromSlash(file))
			}
			if !yield(file, err) {
				return
			}
		}
	}
}

// messages returns the paths of all messages below dir.
func messagePaths(dir fs.FS) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, sub := range []string{"new", "cur"} {
			files, err := fs.ReadDir(dir, sub)
			if err != nil {
				yield("", err)
				return
			}
			for _, f := range files {
				if !f.Type().IsRegular() || strings.HasPrefix(f.Name(), ".") {
					continue
				}
				if !yield(sub+"/"+f.Name(), nil) {
					return
				}
			}
		}
	}
}
