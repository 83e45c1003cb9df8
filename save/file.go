package save

import (
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// A File is a body on its way into a file. It is not safe for concurrent use.
type File struct {
	o      Options
	fs     FS
	base   string // as resolved
	number int    // added to base, for Number
	path   string // the file to be
	part   string
	device bool
	h      Handle
	exists bool // there was a file at path, of which more in final
	final  Info
	mode   fs.FileMode
	mtime  time.Time

	state       State
	digest      hash.Hash // of the part's bytes; nil without Sum and Resume
	keepBytes   int64     // bytes of the existing file that go before the next byte written
	savedOffset int64     // the Offset in the state file; 0: there is none
	started     bool      // by Begin or Write
	overlap     []byte    // of the part, which the next bytes written have to repeat
	unsynced    bool      // a sync failed

	err  error // of the first write or sync that failed
	done bool
}

// saveEvery is how many bytes of a resumable part may have to be read again
// after a crash.
const saveEvery = 8 << 20

// Name returns the path of the file that Commit makes or made: that given to
// Create with links followed and, for Number, with its number.
func (f *File) Name() string { return f.path }

// Device reports whether f is written to as it is: nothing to replace, to
// undo or to resume.
func (f *File) Device() bool { return f.device }

// Restarts reports whether f can discard what it holds and begin with the first
// byte of an object. A device cannot, nor a file that keeps Options.Offset bytes.
func (f *File) Restarts() bool { return !f.device && f.o.Offset == 0 }

// Sum returns the SHA-256 of all that f holds, what an earlier attempt left
// included. It is nil unless Options ask for it, and while an existing file has
// yet to be continued.
func (f *File) Sum() []byte {
	if f.digest == nil || f.keepBytes > 0 {
		return nil
	}
	return f.digest.Sum(nil)
}

// State returns what f holds now. Before the request it says where to go on:
// ask for the bytes from Offset on, if the object still has Validator. The
// zero Offset asks for the whole.
func (f *File) State() State {
	s := f.state
	s.weak = f.o.Weak
	return s
}

// Begin says what the body is that is about to be written: s.Offset is where
// in the object it begins (that of the Response), s.Validator and s.Size are
// the object's; s.URL and s.Unverified are of no account. If the bytes that
// are written are not those of the object (a range that becomes a file of its
// own, a decoded body, a head before it), it is State{Size: -1}.
//
// A body from 0 starts f over. One from State().Offset continues it, provided
// that nothing says that it is of another version: an empty Validator does
// not, for a server that was asked with If-Range need not repeat it. If
// something does, Begin returns fetch.Mismatch and f is back at 0: ask again
// for the whole. One from State().Rest() repeats a little: where that is not what
// f has, Write returns fetch.Mismatch in the same way. At any other offset the
// body is of no use: fetch.Protocol.
//
// Write without Begin is a body from 0 of which nothing is known.
func (f *File) Begin(s State) error {
	if err := f.checkOpen(); err != nil {
		return err
	}
	have := f.State()
	switch {
	case f.device && f.started && s.Offset != have.Offset:
		return fetch.Local.Errorf("%s cannot be wound back", f.path)
	case f.device, s.Offset == 0:
		return f.restart(s)
	case s.Offset != have.Offset && s.Offset != have.RequestOffset():
		return fetch.Protocol.Errorf("asked for the bytes from %d, got those from %d", have.Offset, s.Offset)
	case f.o.Offset > 0 && f.keepBytes > 0 && f.keepBytes < have.Offset:
		return fetch.Local.Errorf("%s has %d bytes, not %d", f.path, f.keepBytes, have.Offset)
	case !sameVersion(have, s):
		if err := f.restart(State{Size: -1}); err != nil {
			return err
		}
		return fetch.Mismatch.Errorf("%s has changed since its first %d bytes were saved", have.URL, have.Offset)
	}
	if err := f.readOverlap(s.Offset); err != nil {
		return err
	}
	f.started = true
	if s.Validator != "" {
		f.state.Validator = s.Validator
	}
	if s.Size >= 0 {
		f.state.Size = s.Size
	}
	return nil
}

// same reports whether nothing says that b is of another version than a.
func sameVersion(a, b State) bool {
	differ := a.Validator != "" && b.Validator != "" && a.Validator != b.Validator ||
		a.Size >= 0 && b.Size >= 0 && a.Size != b.Size ||
		b.Size >= 0 && b.Size < a.Offset
	return !differ
}

// start makes f an empty file that s is about to fill; a device is what it
// is.
func (f *File) restart(s State) error {
	if f.state.Offset > 0 && !f.device {
		if err := f.truncatePart(); err != nil {
			return f.keepError(err)
		}
	}
	f.keepBytes, f.started, f.overlap = 0, true, nil
	s.URL, s.Unverified = f.state.URL, false
	f.state = s
	return nil
}

// SetTime makes t the file's time of modification. One before 1970 or more
// than a day ahead is a server's mistake and ignored.
func (f *File) SetTime(t time.Time) {
	if t.Unix() >= 0 && t.Before(time.Now().Add(24*time.Hour)) {
		f.mtime = t
	}
}

// Write appends to the part. After an error every later call returns it.
func (f *File) Write(p []byte) (int, error) {
	if err := f.checkOpen(); err != nil {
		return 0, err
	}
	if !f.started {
		if err := f.Begin(State{Size: -1}); err != nil {
			return 0, err
		}
	}
	if err := f.copyExisting(); err != nil {
		return 0, err
	}
	again, err := f.checkOverlap(p)
	if err != nil {
		return 0, err
	}
	n, err := f.append(p[again:])
	f.state.Offset += int64(n)
	n += again
	if err != nil {
		return n, err
	}
	if f.resumable() && f.state.Offset-f.savedOffset >= saveEvery {
		if err := f.checkpoint(); err != nil {
			return n, f.keepError(err)
		}
	}
	return n, nil
}

// append writes p to the part, and to its digest if anybody will ask for it.
func (f *File) append(p []byte) (int, error) {
	n, err := f.h.Write(p)
	if f.digest != nil {
		f.digest.Write(p[:n])
	}
	return n, f.keepError(err)
}

// bring copies the bytes that are kept of the existing file into the part.
// That waits for the first byte behind them, so that a server that has no
// more, or begins anew, costs nothing.
func (f *File) copyExisting() error {
	if f.keepBytes == 0 {
		return nil
	}
	src, err := f.fs.OpenFile(f.path, os.O_RDONLY|noFollow|nonBlock, 0)
	if err != nil {
		return f.keepError(err)
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return f.keepError(err)
	}
	if !info.same(f.final) || info.Size != f.final.Size {
		return f.keepError(fetch.Local.Errorf("%s was changed by somebody else", f.path))
	}
	n, err := io.Copy(writerFunc(f.append), io.LimitReader(src, f.keepBytes))
	if err == nil && n < f.keepBytes {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		f.keepBytes = 0
	}
	return f.keepError(err)
}

type writerFunc func([]byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }

// resumable reports whether a later attempt could continue what f holds.
func (f *File) resumable() bool {
	return f.o.Resume && !f.device && f.state.Validator != ""
}

func (f *File) checkOpen() error {
	if f.done {
		return fetch.Usage.With(fs.ErrClosed)
	}
	return f.err
}

// fail keeps err, if it is one, as that of f.
func (f *File) keepError(err error) error {
	if err != nil && f.err == nil {
		f.err = classify(err)
	}
	return f.err
}

// Close ends f. Without a Commit before it nothing appears and nothing is
// left, except under Resume: then what there is of an object with a Validator
// stays for the next attempt. A second Close does nothing.
func (f *File) Close() error {
	if f.done {
		return nil
	}
	f.done = true
	var err error
	if f.started && f.keepBytes == 0 && f.resumable() && f.state.Offset > f.savedOffset && f.h != nil {
		err = f.checkpoint()
	}
	if f.savedOffset == 0 && !f.device {
		err = errors.Join(err, f.remove())
	}
	return classify(errors.Join(err, f.close()))
}

// Abort is Close, but leaves nothing under Resume either: what f holds has
// proved to be wrong.
func (f *File) Abort() error {
	if !f.done && !f.device {
		f.o.Resume, f.savedOffset = false, 0
	}
	return f.Close()
}
