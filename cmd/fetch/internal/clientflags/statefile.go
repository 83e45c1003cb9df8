package clientflags

import (
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/save"
	"github.com/spf13/pflag"
)

// A stateFile is a file that a command reads at its start and updates at its
// end, such as the one of --hsts.
type stateFile struct {
	name    string // "" if no file is read or written
	enabled bool
}

// register adds the flag whose value is the name of the file.
func (f *stateFile) register(p *pflag.FlagSet, flag, usage string) {
	p.Func(flag, usage, func(name string) error {
		f.name, f.enabled = name, true
		return nil
	})
}

// read calls parse with the content of the file. A missing file is empty.
func (f *stateFile) read(parse func(io.Reader) error) error {
	if f.name == "" {
		return nil
	}
	file, err := regularfile.Open(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fetch.Local.With(err)
	}
	defer file.Close()
	if err := parse(file); err != nil {
		return fetch.Local.Errorf("%s: %w", f.name, err)
	}
	return nil
}

// These are the times for which update waits while another process writes the
// file.
const (
	stateWait  = 5 * time.Second
	stateRetry = 20 * time.Millisecond
)

// update replaces the file. While it has the lock of the file, it first calls
// parse again, because another command may have changed the file. If another
// process has the lock for too long, update calls note and keeps the file. It
// does not replace a file of another user.
func (f *stateFile) update(parse func(io.Reader) error, format func(io.Writer) error, note func(string, ...any)) error {
	if f.name == "" {
		return nil
	}
	file, err := f.lock()
	if errors.Is(err, fetch.InUse) {
		note("%v; what this command learned is not stored", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	locked := stateFile{name: file.Name()}
	if err := locked.read(parse); err != nil {
		return err
	}
	if err := format(file); err != nil {
		return err
	}
	return file.Commit()
}

// lock opens the new version of the file. Only one process has it open.
func (f *stateFile) lock() (*save.File, error) {
	for end := time.Now().Add(stateWait); ; time.Sleep(stateRetry) {
		file, err := f.create()
		if !errors.Is(err, fetch.InUse) || !time.Now().Before(end) {
			return file, err
		}
	}
}

// create opens the new version of the file, unless the file or a link to it belongs
// to another user. In a folder of several users, another user can replace a link at
// any time. Therefore, the file that is opened must be the one that was checked.
func (f *stateFile) create() (*save.File, error) {
	target, owned, err := regularfile.OwnTarget(f.name)
	if err == nil && !owned {
		err = errors.New("belongs to another user and is not changed")
	}
	if err != nil {
		return nil, fetch.Local.Errorf("%s: %w", f.name, err)
	}
	file, err := save.Create(f.name, save.Options{Mode: 0o600})
	if err == nil && target != "" && file.Name() != target {
		file.Close()
		return nil, fetch.Local.Errorf("%s was changed by another process", f.name)
	}
	return file, err
}
