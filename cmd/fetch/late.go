package main

import (
	"path/filepath"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// late is a file that the server may name (-J): it is opened when the answer
// has come, and is never one that exists.
type late struct {
	j    *job
	name string // that of the URL
	o    save.Options
	file *save.File // nil: not yet
}

func (l *late) Begin(s save.State) error {
	if l.file == nil {
		if proposed := http.Filename(l.j.resp.Header.Get("Content-Disposition")); proposed != "" {
			// Through the same sieve as the names of URLs.
			name, err := save.Name("/" + uri.Escape(proposed, uri.Segment))
			if err != nil {
				return err
			}
			l.name = filepath.Join(filepath.Dir(l.name), name)
			l.o.Existing = save.Refuse
		}
		file, err := save.Create(l.name, l.o)
		if err != nil {
			return err
		}
		l.file = file
	}
	return l.file.Begin(s)
}

func (l *late) Write(p []byte) (int, error) {
	if l.file == nil {
		return 0, fetch.Internal.Errorf("write before the answer")
	}
	return l.file.Write(p)
}

func (l *late) Name() string {
	if l.file != nil {
		return l.file.Name()
	}
	return l.name
}

func (l *late) State() save.State {
	if l.file != nil {
		return l.file.State()
	}
	return save.State{Size: -1}
}

func (l *late) SetTime(t time.Time) {
	if l.file != nil {
		l.file.SetTime(t)
	}
}

func (l *late) Sum() []byte {
	if l.file == nil {
		return nil
	}
	return l.file.Sum()
}

func (l *late) Commit() error {
	if l.file == nil {
		return nil
	}
	return l.file.Commit()
}

func (l *late) Abort() error {
	if l.file == nil {
		return nil
	}
	return l.file.Abort()
}

func (l *late) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

func (l *late) Restarts() bool { return true }
func (l *late) Terminal() bool { return false }
