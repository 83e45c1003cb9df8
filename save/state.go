package save

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"os"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// A State describes a partial file: the object, its version, and the number of
// bytes received so far.
type State struct {
	URL       string // with user information masked
	Validator string // identifies the version; if "", the version is unknown and the transfer cannot be resumed
	Offset    int64  // number of bytes in the File; for Begin, offset of the body in the object
	Size      int64  // size of the complete object, or -1 if unknown

	// If Unverified is true, the bytes in the File may belong to another
	// version of the object. The program should then inform the user.
	Unverified bool

	// Modified is the time when the existing file was last written. It is zero
	// unless these bytes are in the File without a recorded version. Begin
	// ignores it.
	Modified time.Time

	// Note is text of the program that is stored with the partial file, such as
	// a description of the response. Begin keeps the stored text if the body is
	// appended and Note is empty. If Note is longer than about 400 KiB, the
	// transfer cannot be resumed.
	Note string

	weak bool // Options.Weak
}

// A record is the content of a state file in JSON. It consists of a State and
// the SHA-256 digest of the first Offset bytes of the part file.
type record struct {
	Version    int    `json:"version"`
	URL        string `json:"url"`
	Validator  string `json:"validator"`
	Offset     int64  `json:"offset"`
	Size       int64  `json:"size"`
	Unverified bool   `json:"unverified,omitempty"`
	SHA256     string `json:"sha256"`
	Note       string `json:"note,omitempty"`
}

const (
	stateVersion = 1
	maxState     = 512 << 10 // maximum size of a state file in bytes; enough for a URL of 64 KiB and a note
)

// encode returns the content of the state file that records s. It returns nil
// if the content is longer than maxState.
func encode(s State, digest hash.Hash) []byte {
	text, err := json.Marshal(record{stateVersion, s.URL, s.Validator, s.Offset, s.Size, s.Unverified,
		hex.EncodeToString(digest.Sum(nil)), s.Note})
	if err != nil || len(text) >= maxState {
		return nil
	}
	return append(text, '\n')
}

// decode parses a state file. The result ok is false for content that encode
// cannot have written. The object is then downloaded again from the beginning.
func decode(r io.Reader) (s State, digest []byte, ok bool, err error) {
	text, err := io.ReadAll(io.LimitReader(r, maxState+1))
	if err != nil || len(text) > maxState {
		return State{}, nil, false, err
	}
	var rec record
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if d.Decode(&rec) != nil || rec.Version != stateVersion {
		return State{}, nil, false, nil
	}
	if _, err := d.Token(); err != io.EOF {
		return State{}, nil, false, nil
	}
	digest, err = hex.DecodeString(rec.SHA256)
	if err != nil || len(digest) != sha256.Size || rec.Validator == "" ||
		rec.Offset <= 0 || rec.Size < -1 || rec.Size >= 0 && rec.Size < rec.Offset {
		return State{}, nil, false, nil
	}
	return State{
		URL: rec.URL, Validator: rec.Validator, Offset: rec.Offset, Size: rec.Size, Unverified: rec.Unverified,
		Note: rec.Note,
	}, digest, true, nil
}

// restoreState determines the offset at which the next bytes are written. This
// is the end of an earlier part file, the end of the existing file,
// Options.Offset, or 0. If restoreState cannot read the part file or the state
// file, it changes neither.
func (f *File) restoreState(created bool) error {
	if f.o.Resume {
		if ok, err := f.load(); ok || err != nil {
			return err
		}
	}
	size := f.final.Size
	f.state = State{URL: maskUserinfo(f.o.URL), Size: -1}
	switch {
	case f.o.Existing == Continue && size > 0 && f.o.Strict:
		return fetch.Exists.Errorf("%s exists, and no state file records its version", f.path)
	case f.o.Existing == Continue && size > 0:
		f.state.Offset, f.state.Unverified, f.keepBytes = size, true, size
		f.state.Modified = f.final.Time
	case f.o.Offset > 0:
		f.state.Offset, f.state.Unverified, f.keepBytes = f.o.Offset, true, min(f.o.Offset, size)
	}
	switch {
	case !created:
		return f.truncatePart()
	case f.o.Resume:
		return f.removeState() // a state file without a part file
	}
	return nil
}

// load prepares to resume the part file of an earlier attempt. It returns false
// if this is not possible. The state file must contain the same URL, and its
// digest must match the part file. Bytes after the recorded offset may be
// incomplete, so load removes them.
func (f *File) load() (ok bool, err error) {
	info, exists, err := lstatIfExists(f.fs, f.part+".state")
	if !exists || !isOwnPart(info) {
		return false, err
	}
	h, err := f.fs.OpenFile(f.part+".state", os.O_RDONLY|noFollow|nonBlock, 0)
	if err != nil {
		return false, err
	}
	s, digest, ok, err := decode(h)
	h.Close()
	if err != nil || !ok || s.URL != maskUserinfo(f.o.URL) || f.o.Strict && s.Unverified {
		return false, err
	}
	n, err := io.Copy(f.hashed(), io.LimitReader(f.h, s.Offset))
	if err != nil || n < s.Offset || !bytes.Equal(f.digest.Sum(nil), digest) {
		return false, err
	}
	if err := f.h.Truncate(s.Offset); err != nil {
		return false, err
	}
	f.state, f.savedOffset = s, s.Offset
	_, err = f.h.Seek(s.Offset, io.SeekStart)
	return true, err
}

// checkpoint syncs the written bytes and then writes the state file. After a
// failed sync, the kernel may discard the bytes and report success for the next
// sync. For this reason, a failed sync is a permanent error.
func (f *File) checkpoint() error {
	if f.unsynced {
		return f.err
	}
	if err := f.h.Sync(); err != nil {
		f.unsynced = true
		return err
	}
	if f.rehash {
		if err := f.hashAgain(); err != nil {
			return err
		}
	}
	text := encode(f.state, f.digest)
	if text == nil {
		return f.removeState()
	}
	// The rename replaces the old state file atomically. The new state file is
	// not synced, because decode and the digest detect damage by a power loss.
	h, err := create(f.fs, f.part+".new", 0o600)
	if err != nil {
		return err
	}
	_, err = h.Write(text)
	err = errors.Join(err, h.Close())
	if err == nil {
		err = f.fs.Rename(f.part+".new", f.part+".state")
	}
	if err != nil {
		return errors.Join(err, f.fs.Remove(f.part+".new"))
	}
	f.savedOffset, f.savedTime = f.state.Offset, time.Now()
	return nil
}

// removeState removes the state file. It must be called before the part file is
// truncated, because the state file records the bytes of the part file.
func (f *File) removeState() error {
	f.savedOffset = 0
	if f.unnamed != nil {
		return nil // a state file would belong to another process
	}
	return ignoreNotExist(f.fs.Remove(f.part + ".state"))
}

// truncatePart removes the state file and makes the part file empty.
func (f *File) truncatePart() error {
	if err := f.removeState(); err != nil {
		return err
	}
	f.hashed().Reset()
	f.rehash = false
	if err := f.h.Truncate(0); err != nil {
		return err
	}
	_, err := f.h.Seek(0, io.SeekStart)
	return err
}

// maskUserinfo replaces the userinfo of a URL by "***". The URL may be invalid.
func maskUserinfo(url string) string {
	start := strings.Index(url, "//") + len("//")
	if start < len("//") {
		return url
	}
	end := len(url)
	if i := strings.IndexAny(url[start:], "/?#"); i >= 0 {
		end = start + i
	}
	at := strings.LastIndexByte(url[start:end], '@')
	if at < 0 {
		return url
	}
	return url[:start] + "***" + url[start+at:]
}
