package objectflags

import (
	"io"
	"os"
	"path/filepath"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/fetch"
)

// RecordsHeaders reports whether -i or -D is set.
func (f *Flags) RecordsHeaders() bool { return f.Body.Include || f.HTTP.DumpHeader != "" }

// DumpHeader writes text to the file that -D names. If appended is true, text
// is appended to the file.
func (f *Flags) DumpHeader(output io.Writer, text []byte, appended bool) error {
	name := f.HTTP.DumpHeader
	if name == "" {
		return nil
	}
	return console.WriteFile(output, name, text, func() error {
		if f.File.CreateDirs {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				return fetch.Local.With(err)
			}
		}
		mode := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
		if appended {
			mode = os.O_WRONLY | os.O_CREATE | os.O_APPEND
		}
		file, err := os.OpenFile(name, mode, 0o666)
		if err != nil {
			return fetch.Local.With(err)
		}
		_, err = file.Write(text)
		if closed := file.Close(); err == nil {
			err = closed
		}
		return fetch.Local.With(err)
	})
}
