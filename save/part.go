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
	maxBase = 255 // bytes in one name, on every common file system

	// How often openPart starts again because others created or removed the
	// part between two of its steps.
	maxRaces = 100
)

// partPath returns the path of the part file of path: .NAME.part in the same
// folder, where a rename is possible. A name too long for the addition keeps
// its beginning and a digest.
func partPath(path string) string {
	const added = len(".") + len(".part") + len(".state")
	dir, base := filepath.Split(path)
	if len(base) > maxBase-added {
		base = shorten(base, maxBase-added, "~")
	}
	return dir + "." + base + ".part"
}

// shorten cuts name to at most limit bytes, of which the last are mark and a
// digest of the whole name. No character is cut in two.
func shorten(name string, limit int, mark string) string {
	sum := sha256.Sum256([]byte(name))
	tail := mark + hex.EncodeToString(sum[:8])
	cut := limit - len(tail)
	for cut > 0 && name[cut]&0xC0 == 0x80 {
		cut--
	}
	return name[:cut] + tail
}

// openPart opens the part file of target and locks it. If it was not created
// now, it is what an earlier attempt left.
//
// The lock is on the file, not on its name. Between our open and our lock the
// holder of the name may have renamed or removed it; so the name must still
// be that of the file once the lock is ours, or we start again. Who removes
// or renames a part has its lock.
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
			continue // the way is clear again
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

// openLeft opens a part file that exists. A link in its place is removed, not
// followed; nil means that the way is clear again.
func openExistingPart(fsys FS, part, target string) (Handle, error) {
	info, exists, err := lstatIfExists(fsys, part)
	switch {
	case !exists:
		return nil, err
	case info.Mode.Type() == fs.ModeSymlink:
		return nil, removePart(fsys, part)
	case !info.Mode.IsRegular():
		return nil, fetch.Local.Errorf("%s is in the way", part)
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

// own locks a part and reports whether it is still the one of that name and
// nobody else's work; if it is the latter it is removed.
func lockPart(fsys FS, h Handle, part string, created bool) (bool, error) {
	err := h.Lock()
	if errors.Is(err, errors.ErrUnsupported) {
		if !created {
			return false, fetch.InUse // nobody can tell
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

// discard removes a part that is not ours, and what vouches for it.
func removePart(fsys FS, part string) error {
	return errors.Join(ignoreNotExist(fsys.Remove(part+".state")), fsys.Remove(part))
}
