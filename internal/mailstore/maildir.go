package mailstore

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A Maildir is a directory with a file for each message: new ones in "new",
// those that a reader has seen in "cur", unfinished ones in "tmp". It is not
// safe for concurrent use; other programs may use the directory meanwhile.
type Maildir struct {
	dir  string
	have map[sum]bool // messages that Deliver has to leave alone; nil: not read yet
}

// A sum names a message within the names that Deliver gives.
type sum [16]byte

func sumOf(full [sha256.Size]byte) sum { return sum(full[:len(sum{})]) }

// OpenMaildir returns the Maildir at dir, which need not be there yet.
func OpenMaildir(dir string) *Maildir { return &Maildir{dir: dir} }

// Create makes what is missing of the directory.
func (d *Maildir) Create() error {
	for _, sub := range []string{"tmp", "new", "cur"} {
		if err := os.MkdirAll(filepath.Join(d.dir, sub), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// Deliver writes a message as it is, whole or not at all. Its name is made of
// its date and its message-id, or of its bytes where it has none: one that was
// delivered before is not written twice, and fresh is false. Where the head has
// no date the name has received; the zero time is unknown. Call Sync after the
// last one.
func (d *Maildir) Deliver(message io.Reader, received time.Time) (fresh bool, err error) {
	if err := d.list(); err != nil {
		return false, err
	}
	r := bufio.NewReaderSize(&sticky{r: message}, bufferSize)
	h := fields(r)
	id := h.Get("Message-Id")
	s := sumOf(sha256.Sum256([]byte(id)))
	if id != "" && d.have[s] {
		_, err := io.Copy(io.Discard, r) // which may end too early
		return false, err
	}
	f, err := os.CreateTemp(filepath.Join(d.dir, "tmp"), "fetch.*")
	if err != nil {
		return false, err
	}
	defer os.Remove(f.Name()) // there no more, if all went well
	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, hash), r)
	if err == nil {
		err = f.Sync()
	}
	if err = closing(f, err); err != nil {
		return false, err
	}
	if id == "" {
		s = sumOf([sha256.Size]byte(hash.Sum(nil)))
	}
	if d.have[s] {
		return false, nil
	}
	name := strconv.FormatInt(written(h, received).Unix(), 10) + "." + hex.EncodeToString(s[:]) + suffix
	if err := os.Rename(f.Name(), filepath.Join(d.dir, "new", name)); err != nil {
		return false, err
	}
	d.have[s] = true
	return true, nil
}

const suffix = ".fetch"

// list learns once which messages are there.
func (d *Maildir) list() error {
	if d.have != nil {
		return nil
	}
	have := map[sum]bool{}
	for path, err := range d.Messages() {
		if err != nil {
			return err
		}
		// A reader appends its marks to the name: ":2,S".
		name, _, _ := strings.Cut(filepath.Base(path), ":")
		_, text, _ := strings.Cut(strings.TrimSuffix(name, suffix), ".")
		if b, err := hex.DecodeString(text); err == nil && len(b) == len(sum{}) {
			have[sum(b)] = true
		}
	}
	d.have = have
	return nil
}

// Sync has what was delivered survive a loss of power.
func (d *Maildir) Sync() error {
	f, err := os.Open(filepath.Join(d.dir, "new"))
	if err != nil {
		return err
	}
	return closing(f, f.Sync())
}

// Messages returns the paths of all messages, the new ones first, in the order
// of their names.
func (d *Maildir) Messages() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, sub := range []string{"new", "cur"} {
			files, err := os.ReadDir(filepath.Join(d.dir, sub))
			if err != nil {
				yield("", err)
				return
			}
			for _, f := range files {
				if !f.Type().IsRegular() || strings.HasPrefix(f.Name(), ".") {
					continue
				}
				if !yield(filepath.Join(d.dir, sub, f.Name()), nil) {
					return
				}
			}
		}
	}
}
