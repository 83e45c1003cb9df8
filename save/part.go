package save

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/anyurl/fetch/fetch"
)

const (
	maxBase = 255 // maximum length of a file name in bytes on common file systems

	// maxRaces limits the number of attempts of openPart. An attempt fails if
	// another process creates or removes the part file at the same time.
	maxRaces = 100
)

// partPath returns the path of the part file, which is .NAME.part in the same
// folder. If this name is too long, its end is replaced by a digest.
func partPath(path string) string {
	const added = len(".") + len(".part") + len(".state")
	dir, base := filepath.Split(path)
	if len(base) > maxBase-added {
		base = shorten(base, maxBase-added, "~")
	}
	return dir + "." + base + ".part"
}

// shorten cuts a name to at most limit bytes and does not split a UTF-8
// character. The result ends with the value of mark and a digest of the complete
// name.
func shorten(name string, limit int, mark string) string {
	sum := sha256.Sum256([]byte(name))
	tail := mark + hex.EncodeToString(sum[:8])
	cut := limit - len(tail)
	for cut > 0 && name[cut]&0xC0 == 0x80 {
		cut--
	}
	return name[:cut] + tail
}

// openPart opens and locks a part file. If the result created is false, an
// earlier attempt created the file.
//
// A process must lock a part file before it removes or renames it. The lock
// belongs to the file and not to its name. Between opening and locking, another
// process may therefore remove the part file. For this reason, openPart checks
// after locking that the name still refers to the opened file. If the name
// refers to another file, openPart tries again.
func openPart(fsys FS, part, target string) (h Handle, created bool, err error) {
	for range maxRaces {
		h, err = fsys.OpenFile(part, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
		created = err == nil
		if errors.Is(err, fs.ErrExist) {
			h, err = openExistingPart(fsys, part, target)
		}
		if err != nil {
			return nil, false, err
		}
		if h == nil {
			continue // the name is free
		}
		ok, err := lockPart(fsys, h, part, created)
		if ok {
			return h, created, nil
		}
		if err != nil && created && !errors.Is(err, fetch.InUse) {
			fsys.Remove(part)
		}
		h.Close()
		if errors.Is(err, fetch.InUse) {
			break
		}
		if err != nil {
			return nil, false, err
		}
	}
	return nil, false, fetch.InUse.Errorf("%s is being written by another process", target)
}

// openExistingPart opens an existing part file. If the name is a symbolic link,
// openExistingPart removes the link. It returns a nil Handle if the name is no
// longer in use.
func openExistingPart(fsys FS, part, target string) (Handle, error) {
	info, exists, err := lstatIfExists(fsys, part)
	switch {
	case !exists:
		return nil, err
	case info.Mode.Type() == fs.ModeSymlink:
		return nil, removePart(fsys, part)
	case !info.Mode.IsRegular():
		return nil, fetch.Local.Errorf("%s exists and is not a regular file", part)
	}
	h, err := fsys.OpenFile(part, os.O_RDWR|noFollow|nonBlock, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, fs.ErrPermission):
		return nil, fetch.InUse.Errorf("%s is being written by another user: %w", target, err)
	}
	return h, err
}

// lockPart locks the open part file h and reports whether the name part still
// refers to it. If the file may belong to another user, lockPart removes it and
// returns false.
func lockPart(fsys FS, h Handle, part string, created bool) (bool, error) {
	err := h.Lock()
	if errors.Is(err, errors.ErrUnsupported) {
		if !created {
			return false, fetch.InUse // without file locks, another process may be using the part file
		}
		err = nil
	}
	if err != nil {
		return false, err
	}
	opened, err := h.Stat()
	if err != nil {
		return false, err
	}
	named, exists, err := lstatIfExists(fsys, part)
	switch {
	case !exists, !opened.same(named):
		return false, err
	case !created && !isOwnPart(opened):
		return false, removePart(fsys, part)
	}
	return true, nil
}

// removePart removes a part file and its state file.
func removePart(fsys FS, part string) error {
	return errors.Join(ignoreNotExist(fsys.Remove(part+".state")), fsys.Remove(part))
}
