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

// A Maildir is a directory that holds each mail message in a separate file. It
// has the folders "new" for new messages, "cur" for messages that a mail reader
// has seen, and "tmp" for incomplete messages.
//
// A Maildir is not safe for concurrent use. Other programs may use the
// directory at the same time. Deliver does not follow symbolic links that lead
// out of the directory.
type Maildir struct {
	dir       string               // path from OpenMaildir, or "" after MaildirIn
	root      *os.Root             // all files are created inside root; nil before openRoot
	path      string               // path of the Maildir, relative to root
	delivered map[messageHash]bool // messages already in the Maildir; nil before readDelivered
}

// A messageHash identifies a message in the file names that Deliver creates.
type messageHash [16]byte

func hashOf(full [sha256.Size]byte) messageHash { return messageHash(full[:len(messageHash{})]) }

// OpenMaildir returns a Maildir for the directory dir, which need not exist.
func OpenMaildir(dir string) *Maildir { return &Maildir{dir: dir, path: "."} }

// MaildirIn returns a Maildir for the directory with the given name inside
// root. Deliver writes only inside root. Close does not close root.
func MaildirIn(root *os.Root, name string) *Maildir { return &Maildir{root: root, path: name} }

// Create creates the directory of the Maildir and its folders if they do not
// exist.
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

// openRoot opens the directory of the Maildir if it is not open.
func (d *Maildir) openRoot() (err error) {
	if d.root == nil {
		d.root, err = os.OpenRoot(d.dir)
	}
	return err
}

// Close closes the directory that a Maildir from [OpenMaildir] has opened.
func (d *Maildir) Close() error {
	if d.dir == "" || d.root == nil {
		return nil
	}
	err := d.root.Close()
	d.root = nil
	return err
}

// Deliver writes a message to the folder "new" and reports whether the message
// was new. It returns false if the Maildir already contains the message.
//
// The message is written unchanged. Its file appears in "new" only after the
// message is complete. To make it durable, call Sync after the last message.
//
// The file name consists of the message date and a hash of the Message-ID. If
// the message has no date, the time received replaces the date. If the message
// has no Message-ID, the hash is computed from the message. The time received
// may be zero.
func (d *Maildir) Deliver(message io.Reader, received time.Time) (fresh bool, err error) {
	if err := d.readDelivered(); err != nil {
		return false, err
	}
	r := bufio.NewReaderSize(&stickyReader{r: message}, bufferSize)
	h := peekHeader(r)
	id := h.Get("Message-Id")
	s := hashOf(sha256.Sum256([]byte(id)))
	if id != "" && d.delivered[s] {
		_, err := io.Copy(io.Discard, r) // an error means that the message is truncated
		return false, err
	}
	f, temp, err := d.createTemp()
	if err != nil {
		return false, err
	}
	defer d.root.Remove(temp) // fails after a successful rename
	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, hash), r)
	if err == nil {
		err = f.Sync()
	}
	if err = closeAfter(f, err); err != nil {
		return false, err
	}
	if id == "" {
		s = hashOf([sha256.Size]byte(hash.Sum(nil)))
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

// createTemp creates a file in the folder "tmp". The returned name is the path
// of the file relative to d.root.
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

// readDelivered fills d.delivered with the messages that the Maildir already
// contains. Later calls do nothing.
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
	have := map[messageHash]bool{}
	for file, err := range messagePaths(dir) {
		if err != nil {
			return err
		}
		// Mail readers append flags to file names, for example ":2,S".
		name, _, _ := strings.Cut(path.Base(file), ":")
		_, text, _ := strings.Cut(strings.TrimSuffix(name, nameSuffix), ".")
		if b, err := hex.DecodeString(text); err == nil && len(b) == len(messageHash{}) {
			have[messageHash(b)] = true
		}
	}
	d.delivered = have
	return nil
}

// Sync flushes the folder "new" to disk, so that the delivered messages survive
// a system crash.
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

// Messages iterates over the file paths of all messages. It yields the messages
// in "new" and then the messages in "cur", sorted by file name.
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

// messagePaths iterates over the file paths of all messages in a Maildir. The
// paths are relative to dir.
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
