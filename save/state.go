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

	"github.com/anyurl/fetch/fetch"
)

// A State says of which object, and of which version of it, a File holds how
// much.
type State struct {
	URL       string // masked: no user name, no password
	Validator string // of the version; empty: unknown, so that nothing can be continued
	Offset    int64  // bytes that the File holds; in Begin: where the body begins
	Size      int64  // of the whole object; -1: unknown

	// Unverified says that nothing proves what is there to be of the version
	// that is being read. The user should hear of it.
	Unverified bool

	weak bool // Options.Weak
}

// A record is the state file: a State, and the digest of the Offset bytes
// that it vouches for.
type record struct {
	Version    int    `json:"version"`
	URL        string `json:"url"`
	Validator  string `json:"validator"`
	Offset     int64  `json:"offset"`
	Size       int64  `json:"size"`
	Unverified bool   `json:"unverified,omitempty"`
	SHA256     string `json:"sha256"`
}

const (
	stateVersion = 1
	maxState     = 512 << 10 // bytes; a URL of 64 KiB fits, however it is escaped
)

// encode returns the content of a state file, or nil if it would be too long
// to be read again.
func encode(s State, digest hash.Hash) []byte {
	text, err := json.Marshal(record{stateVersion, s.URL, s.Validator, s.Offset, s.Size, s.Unverified,
		hex.EncodeToString(digest.Sum(nil))})
	if err != nil || len(text) >= maxState {
		return nil
	}
	return append(text, '\n')
}

// decode reads a state file. Whatever encode cannot have written is refused:
// then the part starts over, which is always safe.
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
	return State{URL: rec.URL, Validator: rec.Validator, Offset: rec.Offset, Size: rec.Size, Unverified: rec.Unverified}, digest, true, nil
}

// recall sets f at the place where it can go on: behind the part of an
// earlier attempt, behind the file that exists, or at the beginning. If it
// fails, part and state are as they were.
func (f *File) restoreState(created bool) error {
	if f.o.Resume {
		if ok, err := f.load(); ok || err != nil {
			return err
		}
	}
	size := f.final.Size
	f.state = State{URL: maskUserinfo(f.o.URL), Size: -1}
	switch {
	case f.o.Resume && size > 0 && f.o.Strict:
		return fetch.Exists.Errorf("%s has no state that says of which version it is", f.path)
	case f.o.Resume && size > 0:
		f.state.Offset, f.state.Unverified, f.keepBytes = size, true, size
	case f.o.Offset > 0:
		f.state.Offset, f.state.Unverified, f.keepBytes = f.o.Offset, true, min(f.o.Offset, size)
	}
	switch {
	case !created:
		return f.truncatePart()
	case f.o.Resume:
		return f.removeState() // of a part that is gone
	}
	return nil
}

// load continues the part that an earlier attempt left, if its state is for
// the same URL and the bytes are those that the state vouches for. What
// stands behind them was written after the state and may be torn: it is cut.
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
	n, err := io.Copy(f.digest, io.LimitReader(f.h, s.Offset))
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

// checkpoint makes what was written durable, then records it. After a failed
// sync the kernel may have dropped the bytes and yet report success the next
// time, so the error stays and nothing is written any more.
func (f *File) checkpoint() error {
	if f.unsynced {
		return f.err
	}
	if err := f.h.Sync(); err != nil {
		f.unsynced = true
		return err
	}
	text := encode(f.state, f.digest)
	if text == nil {
		return f.removeState()
	}
	// The new state replaces the old one whole. It is not synced: one that a
	// power loss tears is refused by decode or by its digest.
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
	f.savedOffset = f.state.Offset
	return nil
}

// forget removes the state, before the part loses what it vouches for.
func (f *File) removeState() error {
	f.savedOffset = 0
	return ignoreNotExist(f.fs.Remove(f.part + ".state"))
}

// empty makes f an empty part.
func (f *File) truncatePart() error {
	if err := f.removeState(); err != nil {
		return err
	}
	if f.digest != nil {
		f.digest.Reset()
	}
	if err := f.h.Truncate(0); err != nil {
		return err
	}
	_, err := f.h.Seek(0, io.SeekStart)
	return err
}

// mask returns url with any userinfo as "***". It need not be valid.
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
