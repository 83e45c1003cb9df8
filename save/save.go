// Package save saves objects as files that are either complete or absent. This
// function downloads a URL, retries transient errors, and resumes when it is
// called again:
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
// A program that has a body already writes it to a [File]:
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
// The bytes are written to a part file, .NAME.part in the folder of the file.
// The part file is private and locked. Commit syncs it and renames it. Before
// that, and after every failure, the file is absent or unchanged. A device, a
// pipe, a socket or a descriptor (/dev/stdout) is written directly.
//
// With Options.Resume, the part file is kept after a failure. A state file next
// to it records the URL and the version of the object. [Transfer] does the same
// as Fetch for destinations other than files.
//
// # Permissions and links
//
// A new file that replaces an old one gets the permissions of the old one, but
// not its owner or its hard links. Other new files get the permissions that the
// umask allows. If path is a symbolic link, the link is kept and its target is
// replaced. In a world-writable folder, the link of another user is rejected,
// as Linux does with protected_symlinks.
//
// # Errors
//
// Every error has one of these classes: fetch.InUse (another process writes the
// same file), fetch.Exists, fetch.DiskFull, fetch.Usage, and fetch.Local for
// other errors of this machine. Begin, Write and Commit also return
// fetch.Mismatch, fetch.Protocol and fetch.Truncated.
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

// Options configure how a file is saved. The zero value replaces an existing
// file.
type Options struct {
	// Existing selects the behavior if the file exists already.
	Existing Existing

	// URL is the URL of the body. It is required by Resume, because a part is
	// resumed only for the same URL. User information in URL is not recorded.
	URL string

	// Resume resumes the part of an earlier attempt, and keeps a part if this
	// attempt fails. An existing file without a part is continued from its end.
	// Its version is unknown, so State.Unverified is set.
	Resume bool

	// Weak means that the validators of URL consist of a size and a time, so
	// that two versions may share one (see fetch.Traits). A resumed transfer
	// then requests some bytes again and compares them; see
	// State.RequestOffset.
	Weak bool

	// Strict rejects unverified bytes: an existing file without a part is the
	// error fetch.Exists, and a part with unverified bytes is downloaded again.
	Strict bool

	// Offset, if positive, is the offset in the object at which the body
	// continues. The first Offset bytes of an existing file are kept. If there
	// is no file, the new file has only the body.
	Offset int64

	// Sum computes the SHA-256 of the file for File.Sum. Resume does this too.
	Sum bool

	// Mode is the mode of the file. Zero means the mode of the replaced file,
	// or else the mode that the umask allows.
	Mode fs.FileMode
	// Time makes [Fetch] set the modification time of the file to that of the
	// object.
	// Time gives a file of [Fetch] the time of its object.
	Time bool

	// Retry limits how often [Fetch] starts again after an interrupted body.
	// The zero value allows three retries.
	Retry wrap.RetryOptions

	// Folder, if not nil, makes saving files in that folder faster.
	Folder *Folder

	// FS is the file system; nil means the file system of the machine.
	FS FS
}

// Existing is the behavior if the file exists already.
type Existing uint8

const (
	Replace Existing = iota // replace the file when the new one is complete
	Refuse                  // fail with fetch.Exists
	Number                  // write NAME.1, or the next free name up to NAME.100
)

const maxNumber = 100

// Create opens and locks the part file of path. It detects errors before any
// network traffic: path is a directory, the folder is missing or not writable,
// or another process writes the same file.
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
		t.path = path // the link itself is the existing file
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

// claim locks the part of the file. If Options.Existing is Number, it locks the
// part of the first free name.
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
		// Check before locking too, so that no part is created next to an
		// existing file.
		if _, err := f.fs.Lstat(path); err == nil {
			return fetch.Exists.Errorf("%s exists", path)
		}
	}
	h, created, err := openPart(f.fs, f.part, path)
	if at, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: at.Op, Path: filepath.Dir(path), Err: at.Err} // the error names the folder, not the part
	}
	if err != nil {
		return err
	}
	f.h = h
	if f.o.Existing != Replace || f.o.Resume || f.o.Offset > 0 {
		// The lock now prevents other processes from publishing the file.
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

// prepare determines the offset at which f continues, and the mode of the file.
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

// newMode determines the mode of a new file. The mode depends on the umask and
// on the default ACL of the folder. The only way to read it without changing
// the umask is to create a file. NewMode creates an empty file with another
// name, so that the part is private from the start.
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
