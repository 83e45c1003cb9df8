package tree

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/save"
)

// Part opens the file of a large body, which a later process may resume. Name
// is unique to the body, and valid on every system. Url and weak are those of
// save.Options. If the file is closed before Adopt and its object has a
// validator, the next Part of that name resumes it.
func (s *Store) Part(name, url string, weak bool) (*save.File, error) {
	return save.Create(filepath.Join(s.dir, Tmp, name), save.Options{URL: url, Weak: weak, Resume: true, Strict: true})
}

// Adopt makes p, which is whole, a File like those of Create: durable, and
// without a name in the tree. It ends p.
func (s *Store) Adopt(p *save.File) (*File, error) {
	size := p.State().Offset
	if err := p.Commit(); err != nil {
		p.Close()
		return nil, err
	}
	name := filepath.Base(p.Name())
	f, err := s.parts.Open(name)
	if err != nil {
		return nil, local(err)
	}
	return &File{s: s, f: f, name: name, size: size, synced: true}, nil
}

// Parts are the names of the bodies of which something is left.
func (s *Store) Parts() (names []string, err error) {
	entries, err := fs.ReadDir(s.parts.FS(), ".")
	seen := map[string]bool{}
	for _, e := range entries {
		if name, ok := partOf(e.Name()); ok && e.Type().IsRegular() && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names, local(err)
}

// Drop removes what is left of the body of that name.
func (s *Store) Drop(name string) error {
	var err error
	for _, suffix := range []string{".part.state", ".part"} {
		if e := s.parts.Remove("." + name + suffix); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return local(err)
}

// partOf is the name of the body of which a file of tmp is left: package save
// puts a dot before it, and its own names behind.
func partOf(file string) (name string, ok bool) {
	name, ok = strings.CutSuffix(strings.TrimSuffix(file, ".state"), ".part")
	name, dot := strings.CutPrefix(name, ".")
	return name, ok && dot && name != ""
}

// isPart reports whether a file of tmp is left for the next Part.
func (s *Store) isPart(file string) bool {
	if _, ok := partOf(file); !ok {
		return false
	}
	info, err := s.parts.Lstat(file)
	return err == nil && info.Mode().IsRegular()
}
