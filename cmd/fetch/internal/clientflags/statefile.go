package clientflags

import (
	"bytes"
	"errors"
	"io"
	"io/fs"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/save"
	"github.com/spf13/pflag"
)

// A stateFile is a file that a command reads at its start and updates at its
// end, such as the one of --hsts.
type stateFile struct {
	name    string // "" if nothing is read or written
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
	return parse(file)
}

// update replaces the file. It first calls parse again, because another command
// may have changed the file. It does not replace a file of another user.
func (f *stateFile) update(parse func(io.Reader) error, format func(io.Writer) error) error {
	if f.name == "" {
		return nil
	}
	if owned, err := regularfile.IsOwn(f.name); err != nil || !owned {
		if err == nil {
			err = errors.New("belongs to another user and is not changed")
		}
		return fetch.Local.Errorf("%s: %w", f.name, err)
	}
	var text bytes.Buffer
	if err := errors.Join(f.read(parse), format(&text)); err != nil {
		return err
	}
	file, err := save.Create(f.name, save.Options{Mode: 0o600})
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write(text.Bytes()); err != nil {
		return err
	}
	return file.Commit()
}
