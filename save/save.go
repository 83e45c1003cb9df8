// Package save downloads objects to files. A file gets its final name only when
// it is complete. The following function downloads a URL and retries transient
// errors. If it is called again after a failure, it resumes the download if the
// server identifies versions of the object (fetch.Response.Validator):
//
//	func download(ctx context.Context, url, path string) error {
//		client := schemes.NewClient(fetch.Typed())
//		defer client.Close()
//		_, err := save.Get(ctx, client, url, path)
//		return err
//	}
//
// [Watch] also returns the progress of a download, which prints as a line for
// people, and [Fetch] has options.
//
// A program that already has a response writes its body to a [File]:
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
// The bytes are written to a part file, which is .NAME.part in the folder of
// the file. The part file is locked and not readable by other users. Commit
// syncs the part file and renames it. Before the rename, and after every
// failure, the file is absent or unchanged. In a [Folder], a small new file has
// no name until Commit, if the file system supports this.
// If the path names a device, a pipe,
// a socket or a descriptor such as /dev/stdout, the bytes are written to it
// directly.
//
// With Options.Resume, the part file is kept after a failure if the version of
// its bytes is known. If the server sends no validator, or if the bytes are wrong,
// the part file is removed, and the next call starts again. A state file next to
// the part file records the URL and the version of the object. [Transfer] resumes
// downloads to destinations other than files.
//
// # Permissions and links
//
// A new file that replaces an old file gets the permissions of the old file,
// but not its owner or its hard links. The umask determines the permissions of
// other new files. If path is a symbolic link, the link is kept and its target
// is replaced. In a world-writable folder, the link of another user is
// rejected, as by the Linux setting protected_symlinks.
//
// # Errors
//
// [Get], [Fetch], [Watch] and [Transfer] return the errors of their requests
// unchanged. Every other error has one of the following classes: fetch.InUse if another process
// writes the same file, fetch.Exists, fetch.DiskFull, fetch.Usage, and
// fetch.Local for other errors of this machine. Begin, Write and Commit also
// return fetch.Mismatch, fetch.Protocol and fetch.Truncated.
package save

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/verify"
	"github.com/anyurl/fetch/wrap"
)

// Options configures how a file is saved. The zero value replaces an existing
// file.
type Options struct {
	// Existing selects the action if the file already exists.
	Existing Existing

	// URL is the URL of the object. [Create] requires it for Resume, because a part
	// file is resumed only for the same URL. [Fetch] uses the URL of the request if
	// URL is "". User information in URL is not recorded.
	URL string

	// If Resume is true, the part file of an earlier attempt is resumed. The part
	// file is kept if this attempt fails and State.Validator is not "". A complete
	// file is not resumed but downloaded again, unless Existing is Continue.
	Resume bool

	// If Weak is true, two versions of the object may have the same validator,
	// because it consists of a size and a time (see scheme.Traits). A resumed
	// transfer then requests some bytes again and compares them; see
	// [State.RequestOffset].
	Weak bool

	// If Strict is true, bytes of an unknown version are never resumed. If
	// Existing is Continue, an existing file without a part file causes the error
	// fetch.Exists. A part file with unverified bytes is downloaded again.
	Strict bool

	// If Offset is positive, the body is written at this offset, like the curl
	// option --continue-at. The first Offset bytes of an existing file are
	// kept. If there is no file, the new file contains only the body.
	Offset int64

	// If Sum is true, File.Sum returns the SHA-256 digest of the file. Resume
	// also enables the digest.
	Sum bool

	// Verify contains checks of the complete file, such as digests and
	// signatures. Commit returns the error of the first check that fails, and
	// the file does not get its name. The part file is then removed, even if
	// Resume is set. Each File needs its own checks. See [File.Verify].
	Verify []verify.Check

	// Mode is the permissions of the file. If Mode is zero, a replaced file
	// keeps its permissions, and the umask determines the permissions of a new
	// file.
	Mode fs.FileMode

	// If Time is true, [Fetch] sets the modification time of the file to the
	// modification time of the object.
	Time bool

	// Progress, if not nil, is called by [Fetch] at the start of each body, up to
	// ten times per second, and at the end of the download. It is called in the
	// goroutine of Fetch and delays the download until it returns. It is not
	// called while no bytes arrive.
	Progress func(Progress)

	// Retry limits how often [Fetch] starts again after an interrupted body
	// that cannot be resumed. The zero value allows three retries.
	Retry wrap.RetryOptions

	// Folder, if not nil, is the open folder of the file. It speeds up saving
	// several files in the same folder. It is ignored if FS is not nil.
	Folder *Folder

	// FS is the file system. If it is nil, [System] is used.
	FS FS
}

// Existing selects the action if the file already exists.
type Existing uint8

const (
	Replace Existing = iota // replace the file when the new one is complete
	Refuse                  // fail with fetch.Exists
	Number                  // write NAME.1, or the next free name up to NAME.100

	// Continue appends the missing bytes to the file if there is no part file.
	// The version of its bytes is unknown, so State.Unverified is set. Continue
	// requires Options.Resume.
	Continue
)

// replaces reports whether the existing file is replaced.
func (e Existing) replaces() bool { return e == Replace || e == Continue }

const maxNumber = 100

// Create creates and locks the part file for a file at path. It detects some
// errors before any network traffic. Examples are a path that is a directory, a
// folder that is missing or not writable, and another process that writes the
// same file.
func Create(path string, o Options) (*File, error) {
	f := &File{o: o, fs: o.FS, checks: o.Verify, savedTime: time.Now()}
	switch {
	case f.fs != nil:
		f.o.Folder = nil
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
	case o.Existing == Continue && !o.Resume:
		return nil, fetch.Usage.Errorf("cannot continue %s without the option Resume", path)
	case o.Resume && o.Offset > 0, o.Offset < 0:
		return nil, fetch.Usage.Errorf("cannot continue %s at %d", path, o.Offset)
	}
	t, err := target{path: path}, error(nil)
	if o.Existing != Replace || o.Resume || o.Offset > 0 || !f.o.Folder.lacked(path) {
		t, err = resolve(f.fs, path)
	}
	if err != nil {
		return nil, fetch.LocalError(err)
	}
	switch {
	case t.device:
		if err := f.openDevice(t); err != nil {
			return nil, fetch.LocalError(err)
		}
		return f, nil
	case !o.Existing.replaces():
		t.path = path // the link counts as the existing file
	case t.exists:
		if err := checkWritable(f.fs, t.path); err != nil {
			return nil, fetch.LocalError(err)
		}
	}
	f.base, f.exists, f.final = t.path, t.exists, t.info
	if err := f.claim(); err != nil {
		return nil, fetch.LocalError(err)
	}
	return f, nil
}

// claim creates and locks the part file. If Options.Existing is Number, claim
// uses the first name that is free.
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
	f.setPath(path)
	if !f.o.Folder.claim(path) {
		return fetch.InUse.Errorf("%s is being written by another download", path)
	}
	err := f.openPath()
	if err != nil {
		f.o.Folder.release(path)
	} else {
		f.claimed = path
	}
	return err
}

// setPath sets the path of the file and of its part file.
func (f *File) setPath(path string) { f.path, f.part = path, partPath(path) }

// openPath creates the part file, or a file without a name.
func (f *File) openPath() error {
	path := f.path
	if !f.o.Existing.replaces() {
		// This check before locking avoids creating a part file if the file
		// already exists.
		if _, err := f.fs.Lstat(path); err == nil {
			return fetch.Exists.Errorf("%s exists", path)
		}
	}
	if f.createUnnamed() {
		return nil
	}
	h, created, err := openPart(f.fs, f.part, path)
	if at, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: at.Op, Path: filepath.Dir(path), Err: at.Err} // the error names the folder, not the part
	}
	if err != nil {
		return err
	}
	f.h, f.hasPart = h, true
	if !f.o.Existing.replaces() || f.o.Resume || f.o.Offset > 0 {
		// While the lock is held, no other process can publish the file.
		f.final, f.exists, err = lstatIfExists(f.fs, path)
	}
	switch {
	case err != nil:
	case f.exists && !f.o.Existing.replaces():
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

// prepare determines at which offset writing continues, and the permissions of
// the file.
func (f *File) prepare(created bool) error {
	if !created { // a killed process can leave this file
		if err := ignoreNotExist(f.fs.Remove(f.part + ".new")); err != nil {
			return err
		}
	}
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

// newMode determines the permissions of a new file from the umask and the
// default ACL of the folder. The only way to determine them without changing
// the umask is to create a file. newMode creates and removes an empty file, so
// that the part file itself is never readable by other users.
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
