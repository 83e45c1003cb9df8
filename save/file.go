package save

import (
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/verify"
)

// A File receives the bytes of an object and publishes them under the final
// name when [File.Commit] is called. The zero File cannot be used. [Create]
// returns a valid File. A File is not safe for concurrent use.
type File struct {
	o      Options
	fs     FS
	base   string // path with symbolic links followed
	number int    // suffix of base, for Options.Existing == Number
	path   string // path of the file
	part   string // path of the part file
	device bool
	h      Handle

	hasPart bool          // the part file belongs to this File
	unnamed unnamedHandle // h if the file has no name and no part file, or nil
	claimed string        // path for which Folder.release must be called, or ""
	exists  bool          // a file existed at path at the last check
	final   Info          // properties of the file at path, if exists is true
	mode    fs.FileMode
	mtime   time.Time

	state       State
	digest      hash.Hash      // of the bytes in the part file; nil if neither Sum nor Resume is set
	checks      []verify.Check // have received the bytes in the part file
	rehash      bool           // digest and checks have received bytes that are not in the part file
	late        []verify.Check // receive the bytes of the part file in Commit
	keepBytes   int64          // bytes of the existing file that must be copied before the next byte
	savedOffset int64          // Offset in the state file; 0 if there is no state file
	savedTime   time.Time      // time of the last checkpoint, or of Create
	started     bool           // Begin or Write was called
	overlap     []byte         // end of the part file, which the next bytes must repeat
	unsynced    bool           // a sync failed

	err  error // error of the first failed write or sync; returned by all later calls
	done bool
}

// saveEvery and saveInterval are the maximum number of bytes and the maximum
// time between two checkpoints of the state file. Bytes that arrived after the
// last checkpoint are downloaded again after a crash.
const (
	saveEvery    = 8 << 20
	saveInterval = 10 * time.Second
)

// Name returns the path of the file that Commit publishes. It is the path
// passed to Create, with symbolic links followed. If Options.Existing is
// Number, the path may end in a number.
func (f *File) Name() string { return f.path }

// Device reports whether the File writes directly to a device, a pipe or a
// socket. Such a File cannot be replaced or resumed.
func (f *File) Device() bool { return f.device }

// Restarts reports whether the File can discard its bytes and start again at
// offset 0. It returns false for a device, and if Options.Offset is set.
func (f *File) Restarts() bool { return !f.device && f.o.Offset == 0 }

// Sum returns the SHA-256 digest of all bytes of the File, including the bytes
// from earlier attempts. It returns nil if neither Options.Sum nor
// Options.Resume is set. It also returns nil if bytes of an existing file were
// not copied yet.
func (f *File) Sum() []byte {
	if f.digest == nil || f.keepBytes > 0 || f.rehash {
		return nil
	}
	return f.digest.Sum(nil)
}

// State returns the version of the object and the number of bytes that the File
// contains. To resume a transfer, request the bytes from State.RequestOffset,
// with IfSame set to State.Validator. If the offset is 0, request the complete
// object.
func (f *File) State() State {
	s := f.state
	s.weak = f.o.Weak
	return s
}

// Begin prepares the File for the next body, which s describes. The Offset of s
// is Response.Offset. Its Validator and Size describe the complete object.
// Begin ignores the fields URL, Unverified and Modified.
//
// If the body is not the object itself, but for example a decoded body or a
// single range, call Begin with State{Size: -1}. Write without Begin writes a
// body from offset 0 with unknown size and version.
//
// A body from offset 0 replaces the bytes in the File. A body from
// State().Offset is appended. If its validator or size belongs to another
// version of the object, Begin discards the bytes in the File and returns
// fetch.Mismatch. The caller should then request the complete object. An empty
// Validator is accepted, because a server need not repeat the validator in its
// response to If-Range.
//
// A body from State().RequestOffset() repeats some bytes. If they differ, Write
// returns fetch.Mismatch and discards the bytes in the File. For any other
// offset, Begin returns fetch.Protocol.
func (f *File) Begin(s State) error {
	if err := f.checkOpen(); err != nil {
		return err
	}
	have := f.State()
	switch {
	case f.device && f.started && s.Offset != have.Offset:
		return fetch.Local.Errorf("%s is not a regular file and cannot start again at byte %d", f.path, s.Offset)
	case f.device, s.Offset == 0:
		return f.restart(s)
	case s.Offset != have.Offset && s.Offset != have.RequestOffset():
		return fetch.Protocol.Errorf("requested the bytes from %d, received those from %d", have.Offset, s.Offset)
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
	if s.Note != "" {
		f.state.Note = s.Note
	}
	return nil
}

// sameVersion reports whether two States may describe the same version of an
// object.
func sameVersion(a, b State) bool {
	differ := a.Validator != "" && b.Validator != "" && a.Validator != b.Validator ||
		a.Size >= 0 && b.Size >= 0 && a.Size != b.Size ||
		b.Size >= 0 && b.Size < a.Offset
	return !differ
}

// restart discards the bytes in the File and prepares it for the body that s
// describes. It cannot discard bytes written to a device.
func (f *File) restart(s State) error {
	if f.state.Offset > 0 && !f.device {
		if err := f.truncatePart(); err != nil {
			return f.keepError(err)
		}
	}
	if s.Size > maxUnnamed {
		if err := f.moveToPart(); err != nil {
			return f.keepError(err)
		}
	}
	f.keepBytes, f.started, f.overlap = 0, true, nil
	s.URL, s.Unverified, s.Modified = f.state.URL, false, time.Time{}
	f.state = s
	return nil
}

// SetTime sets the modification time of the file. It ignores a time before 1970
// or more than one day in the future, because the server's clock must be wrong.
func (f *File) SetTime(t time.Time) {
	if t.Unix() >= 0 && t.Before(time.Now().Add(24*time.Hour)) {
		f.mtime = t
	}
}

// Write writes p to the File. After an error, all later calls return this
// error.
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
	if f.resumable() && (f.state.Offset-f.savedOffset >= saveEvery || time.Since(f.savedTime) >= saveInterval) {
		if err := f.checkpoint(); err != nil {
			return n, f.keepError(err)
		}
	}
	return n, nil
}

// append writes p to the part file and to the digest of the part file.
func (f *File) append(p []byte) (int, error) {
	if f.unnamed != nil && f.state.Offset+int64(len(p)) > maxUnnamed {
		if err := f.moveToPart(); err != nil {
			return 0, f.keepError(err)
		}
	}
	n, err := f.writeHashed(p)
	return n, f.keepError(err)
}

// copyExisting copies the first keepBytes bytes of the existing file to the
// part file. Write calls it before the first new byte. It has no effect if
// keepBytes is 0.
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
		return f.keepError(fetch.Local.Errorf("%s was changed by another process", f.path))
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

// resumable reports whether a later attempt can resume the part file.
func (f *File) resumable() bool {
	return f.o.Resume && !f.device && f.state.Validator != ""
}

func (f *File) checkOpen() error {
	if f.done {
		return fetch.Usage.With(fs.ErrClosed)
	}
	return f.err
}

// keepError stores err if it is the first error of the File. It returns the
// first error, or nil.
func (f *File) keepError(err error) error {
	if err != nil && f.err == nil {
		f.err = fetch.LocalError(err)
	}
	return f.err
}

// Close closes the File. If Commit was not called, Close removes the part file,
// unless Options.Resume is set and the object has a Validator. A second Close
// has no effect.
func (f *File) Close() error {
	if f.done {
		return nil
	}
	f.done = true
	var err error
	if f.started && f.keepBytes == 0 && f.resumable() && f.state.Offset > f.savedOffset && f.h != nil {
		err = f.checkpoint()
	}
	f.o.Folder.release(f.claimed)
	if f.savedOffset == 0 && f.hasPart {
		err = errors.Join(err, f.remove())
	}
	return fetch.LocalError(errors.Join(err, f.close()))
}

// Abort closes the File and removes the part file, even if Options.Resume is
// set. It is intended for callers that received wrong bytes.
func (f *File) Abort() error {
	if !f.done && !f.device {
		f.o.Resume, f.savedOffset = false, 0
	}
	return f.Close()
}
