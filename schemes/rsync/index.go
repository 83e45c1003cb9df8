package rsync

import (
	"errors"
	"io"
	"sort"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// Limits for the list of a directory whose files are requested by their
// indexes. The lists of longer directories are not kept.
const (
	maxIndex      = 20_000  // entries
	maxIndexNames = 2 << 20 // bytes of all names
)

// maxDirectories is the number of directories that a driver remembers.
const maxDirectories = 1000

// errNoIndex means that a file cannot be requested by its index.
var errNoIndex = errors.New("the file is not in a list")

// An indexedFile is a regular file in the list of a directory.
type indexedFile struct {
	size        int64
	seconds     int64 // modification time
	nanoseconds int32
	number      int32 // index in the list, which is sorted by name
}

func (f indexedFile) time() time.Time { return time.Unix(f.seconds, int64(f.nanoseconds)).UTC() }

// An index has the regular files of a directory by name.
type index map[string]indexedFile

// An indexer collects the entries of a list.
type indexer struct {
	items []item
	names int // bytes
	full  bool
}

// add adds an entry. It discards all entries if the list is too long.
func (x *indexer) add(f item) {
	if x.names += len(f.name); len(x.items) >= maxIndex || x.names > maxIndexNames {
		x.items, x.full = nil, true
	}
	if !x.full {
		f.link = ""
		x.items = append(x.items, f)
	}
}

// index returns the regular files. The server and the client sort the list by
// the bytes of the names. Since version 29, the directories except "." follow the
// other entries. If names are repeated, index returns nil.
func (x *indexer) index(version int) index {
	if x.full {
		return nil
	}
	last := func(f item) bool { return version >= varVersion && f.mode&typeMask == folderType && f.name != "." }
	sort.Slice(x.items, func(i, j int) bool { // smaller programs than with slices.SortFunc, which is generic
		if a, b := last(x.items[i]), last(x.items[j]); a != b {
			return b
		}
		return x.items[i].name < x.items[j].name
	})
	all := make(index, len(x.items))
	for i, f := range x.items {
		if i > 0 && f.name == x.items[i-1].name {
			return nil
		}
		if f.mode&typeMask == regularType {
			all[f.name] = indexedFile{f.size, f.time.Unix(), int32(f.time.Nanosecond()), int32(i)}
		}
	}
	return all
}

// setIndex lets the session serve requests for the collected files. It returns
// false if the list is too long.
func (s *session) setIndex(files *indexer) bool {
	s.index, s.listed = files.index(s.version), time.Now()
	return s.index != nil
}

// readIndex reads the list of the directory.
func (s *session) readIndex() error {
	all, files := &list{s: &s.in}, indexer{}
	for {
		f, err := all.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if files.add(f); files.full || len(files.items) == 1 && f.mode&typeMask != folderType {
			return errNoIndex
		}
	}
	if len(files.items) == 0 || s.endOfList(all) != io.EOF || !s.setIndex(&files) {
		return errNoIndex
	}
	return nil
}

// request requests a file by its index and returns its content.
func (s *session) request(f indexedFile) (*content, error) {
	s.in.strict = true // the server sends only a message if it cannot open the file
	err := s.sendRequest(f.number)
	var body *content
	if err == nil {
		body, err = s.openFile(f.number, f.size)
	}
	s.in.strict = false
	if err != nil {
		s.index = nil
		if s.in.text != "" {
			s.MarkAnswered()
		}
		s.Break()
		return nil, err
	}
	s.MarkAnswered()
	body.exact = true
	return body, nil
}

// A directories value remembers the directories that were requested, or whose
// files were. Their next file is requested by its index.
type directories struct {
	mu    sync.Mutex
	known map[string]bool // false if the list of the directory cannot be used
}

// isKnown reports whether the directory was requested before.
func (d *directories) isKnown(t fetch.Target, folder string) bool {
	key := t.Address() + "/" + folder
	d.mu.Lock()
	defer d.mu.Unlock()
	usable, known := d.known[key]
	if !known {
		if d.known == nil || len(d.known) >= maxDirectories {
			d.known = map[string]bool{}
		}
		d.known[key] = true
	}
	return usable
}

// disable records that the list of the directory cannot be used.
func (d *directories) disable(t fetch.Target, folder string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known[t.Address()+"/"+folder] = false
}
