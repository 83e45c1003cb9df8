package tree

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
)

// Part opens the partial file of a large body, so that a later process can
// resume it. The name must be unique and valid on every file system. The
// parameter url is the URL of the body. If the file has a validator and is
// closed before Adopt, the next call of Part with this name resumes it. The
// caller then requests some of the bytes again, because two versions of a body
// may have the same validator. See save.Options.Weak.
func (s *Store) Part(name, url string) (*save.File, error) {
	return save.Create(filepath.Join(s.dir, Tmp, name), save.Options{URL: url, Weak: true, Resume: true, Existing: save.Continue, Strict: true})
}

// Adopt converts the complete partial file p to a File and commits it to stable
// storage. The caller must not use p after Adopt.
func (s *Store) Adopt(p *save.File) (*File, error) {
	size := p.State().Offset
	if err := p.Commit(); err != nil {
		p.Close()
		return nil, err
	}
	name := filepath.Base(p.Name())
	f, err := s.parts.Open(name)
	if err != nil {
		return nil, fetch.LocalError(err)
	}
	return &File{s: s, f: f, name: name, size: size, synced: true}, nil
}

// Parts returns the names of all partial files.
func (s *Store) Parts() (names []string, err error) {
	entries, err := fs.ReadDir(s.parts.FS(), ".")
	seen := map[string]bool{}
	for _, e := range entries {
		if name, ok := bodyName(e.Name()); ok && e.Type().IsRegular() && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names, fetch.LocalError(err)
}

// RemovePart removes the partial file with the given name.
func (s *Store) RemovePart(name string) error {
	var err error
	for _, suffix := range []string{".part.state", ".part"} {
		if e := s.parts.Remove("." + name + suffix); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return fetch.LocalError(err)
}

// bodyName returns the name that was passed to Part for a file in tmp. The
// package save adds a dot before the name and the suffix ".part" or
// ".part.state".
func bodyName(file string) (name string, ok bool) {
	name, ok = strings.CutSuffix(strings.TrimSuffix(file, ".state"), ".part")
	name, dot := strings.CutPrefix(name, ".")
	return name, ok && dot && name != ""
}

// isPart reports whether a file in tmp belongs to a partial file of Part.
func (s *Store) isPart(file string) bool {
	if _, ok := bodyName(file); !ok {
		return false
	}
	info, err := s.parts.Lstat(file)
	return err == nil && info.Mode().IsRegular()
}
