package importcmd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/warc/zst"
)

// An output is the new WARC file.
type output struct {
	*warc.Writer
	dir  *os.Root
	open string      // name of the file until it is complete
	lock save.Handle // prevents two processes from writing the file
}

// openOutput creates a WARC file, which must not exist. It does not change the
// unfinished file of another command, such as fetch record.
func openOutput(path string) (_ *output, err error) {
	if _, failed := os.Lstat(path); failed == nil {
		return nil, fetch.Exists.Errorf("%s exists: import never changes a finished file", path)
	}
	w := &output{open: filepath.Base(path) + warc.OpenSuffix}
	if w.dir, err = os.OpenRoot(filepath.Dir(path)); err != nil {
		return nil, fetch.LocalError(err)
	}
	if w.lock, err = save.OpenLock(path + warc.OpenSuffix); err != nil {
		return nil, errors.Join(err, w.dir.Close())
	}
	if info, failed := w.dir.Lstat(w.open); failed != nil || info.Size() > 0 {
		err = failed
		if err == nil {
			err = fetch.Exists.Errorf("%s exists: a command that ended early has left it (remove it, or use another name)", path+warc.OpenSuffix)
		}
		return nil, fetch.LocalError(errors.Join(err, w.lock.Close(), w.dir.Close()))
	}
	o := warc.Options{Name: filepath.Base(path), Info: fetch.Header{{Name: "software", Value: console.Product()}}}
	if strings.HasSuffix(path, ".zst") {
		o.Zstd, err = zst.New()
	}
	if err == nil {
		w.Writer, err = warc.NewWriter(w.dir, o)
	}
	if err != nil {
		return nil, w.remove(err)
	}
	return w, nil
}

// close completes the file, or removes it if failed is not nil.
func (w *output) close(failed error) error {
	if failed != nil {
		return w.remove(errors.Join(failed, w.Abandon()))
	}
	if err := w.Writer.Close(); err != nil {
		return w.remove(err)
	}
	return fetch.LocalError(errors.Join(w.lock.Close(), w.dir.Close()))
}

// remove removes the unfinished file and returns cause.
func (w *output) remove(cause error) error {
	err := w.dir.Remove(w.open)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(cause, fetch.LocalError(errors.Join(err, w.lock.Close(), w.dir.Close())))
}
