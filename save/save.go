// Package save saves objects as files, complete or not at all. This function
// downloads a URL, retries transient errors, and resumes when it is called again:
//
//	func download(ctx context.Context, url, path string) error {
//		u, err := fetch.ParseURL(url)
//		if err != nil {
//			return err
//		}
//		options := fetch.Options{Policy: fetch.Typed(), Wrap: wrap.Standard(wrap.Options{})}
//		client := fetch.New(options, schemes.All(schemes.Options{})...)
//		defer client.Close()
//		_, err = save.Fetch(ctx, client, &fetch.Request{URL: u}, path, save.Options{Resume: true})
//		return err
//	}
//
// A program with a body of its own writes it to a [File]:
//
//	f, err := save.Create("out", save.Options{})
//	if err != nil {
//		return err
//	}
//	defer f.Close()
//	if _, err := io.Copy(f, resp.Body); err != nil {
//		return err
//	}
//	return f.Commit()
//
// The bytes go to a part file, .NAME.part in the folder of the file. It is
// private and locked. Commit syncs and renames it. Until then, and after every
// failure, the file is absent or unchanged. A device, a pipe, a socket or a
// descriptor (/dev/stdout) is written to directly and never replaced.
//
// With Options.Resume the part survives a failure. A small state file beside it
// records its object and version. [Transfer] is the loop of Fetch for other
// destinations than files.
//
// # What appears
//
// A file that is replaced hands its permissions on, but not its owner nor
// its further hard links; a new one gets what the umask leaves. A symbolic
// link stays and the file that it names is replaced, in the folder where that
// is; the link of another user in a folder that all may write to is refused,
// as the kernel would refuse to open it.
//
// # Errors
//
// Every error is of one of these classes: fetch.InUse (another process writes
// the same file; the lock ends with that process), fetch.Exists,
// fetch.DiskFull, fetch.Local for anything else on this side, fetch.Usage,
// and from Begin, Write and Commit fetch.Mismatch, fetch.Protocol and
// fetch.Truncated.
package save

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/wrap"
)

// Options say how a file is saved. The zero value replaces what is there.
type Options struct {
	// Existing says what to do when there is a file already.
	Existing Existing

	// URL is where the body comes from. Resume needs it: a part is continued
	// for the same URL only. A user name and password in it are not recorded.
	URL string

	// Resume continues what an earlier attempt left and leaves a part if this
	// one fails. A file that has no part is continued from its size, though
	// nobody knows what it is: State.Unverified.
	Resume bool

	// Weak says that validators of URL are a size and a time, which two versions
	// may share (see fetch.Traits). A resumed transfer then requests some bytes
	// again and compares them: State.Rest.
	Weak bool

	// Strict makes that an error, fetch.Exists, and starts a part over that
	// began that way.
	Strict bool

	// Offset, if positive, is where the caller wants to go on in the file
	// that exists, of which that many bytes are kept. If there is none, the
	// file will hold the rest alone.
	Offset int64

	// Sum keeps the SHA-256 of the file for File.Sum. Resume does so too.
	Sum bool

	// Mode is the mode of the file; zero is that of the file replaced, or
	// else what the umask leaves.
	Mode fs.FileMode

	// Time gives a file of [Fetch] the time of its object.
	Time bool

	// Retry limits how often [Fetch] requests a body that broke off from its
	// beginning. The zero value permits three more attempts.
	Retry wrap.RetryOptions

	// Folder, if not nil, makes the files in that folder cheaper.
	Folder *Folder

	// FS is the file system; nil is the system's.
	FS FS
}

// Existing says what to do with a file that exists.
type Existing uint8

const (
	Replace Existing = iota // replace it when the new one is whole
	Refuse                  // fetch.Exists
	Number                  // write NAME.1 instead, or the next that is free up to NAME.100
)

const maxNumber = 100

// Create opens the part file of path and takes its lock. What can be known to
// fail is known here, before any network traffic: a directory, a folder that
// is missing or closed to us, another process at work.
func Create(path string, o Options) (*File, error) {
	f := &File{o: o, fs: o.FS}
	switch {
	case f.fs != nil:
	case o.Folder != nil:
		f.fs = o.Folder.fs
	default:
		f.fs = system{}
	}
	if o.Sum || o.Resume {
		f.digest = sha256.New()
	}
	switch {
	case o.Resume && o.URL == "":
		return nil, fetch.Usage.Errorf("cannot resume %s without its URL", path)
	case o.Resume && o.Offset > 0, o.Offset < 0:
		return nil, fetch.Usage.Errorf("cannot continue %s at %d", path, o.Offset)
	}
	t, err := resolve(f.fs, path)
	if err != nil {
		return nil, classify(err)
	}
	switch {
	case t.device:
		if err := f.openDevice(t); err != nil {
			return nil, classify(err)
		}
		return f, nil
	case o.Existing != Replace:
		t.path = path // a link counts as the file that exists
	case t.exists:
		if err := checkWritable(f.fs, t.path); err != nil {
			return nil, classify(err)
		}
	}
	f.base, f.exists, f.final = t.path, t.exists, t.info
	if err := f.claim(); err != nil {
		return nil, classify(err)
	}
	return f, nil
}

// claim locks the part of the file to be: for Number, of the first that is
// free.
func (f *File) claim() error {
	for {
		err := f.claimPath(numbered(f.base, f.number))
		taken := errors.Is(err, fetch.Exists) || errors.Is(err, fetch.InUse)
		if !taken || f.o.Existing != Number || f.number == maxNumber {
			return err
		}
		f.number++
	}
}

func numbered(path string, n int) string {
	if n == 0 {
		return path
	}
	return path + "." + strconv.Itoa(n)
}

func (f *File) claimPath(path string) error {
	f.path, f.part = path, partPath(path)
	if f.o.Existing != Replace {
		// Before the lock too, to leave no trace beside a file that is there.
		if _, err := f.fs.Lstat(path); err == nil {
			return fetch.Exists.Errorf("%s exists", path)
		}
	}
	h, created, err := openPart(f.fs, f.part, path)
	if at, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: at.Op, Path: filepath.Dir(path), Err: at.Err} // the part is nobody's wish
	}
	if err != nil {
		return err
	}
	f.h = h
	if f.o.Existing != Replace || f.o.Resume || f.o.Offset > 0 {
		// Only now nobody else is about to publish it.
		f.final, f.exists, err = lstatIfExists(f.fs, path)
	}
	switch {
	case err != nil:
	case f.exists && f.o.Existing != Replace:
		err = fetch.Exists.Errorf("%s exists", path)
	default:
		err = f.prepare(created)
	}
	if err != nil {
		if created {
			f.fs.Remove(f.part)
		}
		h.Close()
	}
	return err
}

// prepare finds where to go on, and the mode of the file.
func (f *File) prepare(created bool) error {
	if err := f.restoreState(created); err != nil {
		return err
	}
	switch {
	case f.o.Mode != 0:
		f.mode = f.o.Mode.Perm()
	case f.exists:
		f.mode = f.final.Mode.Perm()
	default:
		return f.newMode()
	}
	return nil
}

// newMode finds the mode that a new file gets. The kernel tells the umask,
// and what a default ACL of the folder makes of it, without changing it only
// by creating a file: an empty one under another name, so that the part is
// private from the start.
func (f *File) newMode() (err error) {
	known := f.o.Folder.contains(f.part)
	if known {
		if mode := f.o.Folder.mode.Load(); mode != nil {
			f.mode = *mode
			return nil
		}
	}
	name := f.part + ".new"
	h, err := create(f.fs, name, 0o666)
	if err != nil {
		return err
	}
	info, err := h.Stat()
	if err == nil {
		mode := info.Mode.Perm()
		f.mode = mode
		if known {
			f.o.Folder.mode.Store(&mode)
		}
	}
	return errors.Join(err, h.Close(), f.fs.Remove(name))
}
