package rsync

import (
	"bytes"
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
	maxIndexNames = 1 << 20 // bytes of all names
)

// maxDirectories is the number of directories that a driver remembers.
const maxDirectories = 1000

// errNoIndex means that a file cannot be requested by its index.
var errNoIndex = errors.New("the file is not in a list")

// An indexedFile is an entry of the list of a directory. It has 32 bytes, because
// each idle session has a list.
type indexedFile struct {
	name        uint32 // offset of its name
	nameLength  uint16
	isFile      bool  // a regular file
	last        bool  // a directory that follows all other entries
	number      int32 // index in the list, which is sorted by name
	nanoseconds int32 // of the modification time
	seconds     int64
	size        int64
}

func (f *indexedFile) time() time.Time { return time.Unix(f.seconds, int64(f.nanoseconds)).UTC() }

// An index has the regular files of a directory, sorted by name.
type index struct {
	names []byte
	files []indexedFile
}

func (x *index) nameOf(i int) []byte {
	f := &x.files[i]
	return x.names[f.name:][:f.nameLength]
}

// find returns the file with the given name. The index can be nil.
func (x *index) find(name string) (f *indexedFile, ok bool) {
	if x == nil {
		return nil, false
	}
	i := sort.Search(len(x.files), func(i int) bool { return string(x.nameOf(i)) >= name })
	if i == len(x.files) || string(x.nameOf(i)) != name {
		return nil, false
	}
	return &x.files[i], true
}

// An indexer collects the entries of a list.
type indexer struct {
	list index
	full bool
}

// add adds an entry. It discards all entries if the list is too long.
func (x *indexer) add(f item) {
	all := &x.list
	if len(all.files) >= maxIndex || len(all.names)+len(f.name) > maxIndexNames {
		x.list, x.full = index{}, true
	}
	if x.full {
		return
	}
	all.files = append(all.files, indexedFile{
		name: uint32(len(all.names)), nameLength: uint16(len(f.name)), isFile: f.mode&typeMask == regularType,
		last: f.mode&typeMask == folderType && f.name != ".", size: f.size, seconds: f.time.Unix(), nanoseconds: int32(f.time.Nanosecond()),
	})
	all.names = append(all.names, f.name...)
}

// index returns the regular files. The server and the client sort the list by
// the bytes of the names. Since version 29, the directories except "." follow the
// other entries. If names are repeated, index returns nil.
func (x *indexer) index(version int) *index {
	if x.full {
		return nil
	}
	all := &x.list
	sort.Slice(all.files, func(i, j int) bool { // smaller programs than with slices.SortFunc, which is generic
		if a, b := all.files[i].last, all.files[j].last; a != b && version >= varVersion {
			return b
		}
		return bytes.Compare(all.nameOf(i), all.nameOf(j)) < 0
	})
	n := 0
	for i := range all.files {
		if i > 0 && bytes.Equal(all.nameOf(i), all.nameOf(i-1)) {
			return nil
		}
		all.files[i].number = int32(i)
	}
	for _, f := range all.files {
		if f.isFile {
			all.files[n] = f
			n++
		}
	}
	all.files = all.files[:n]
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
		if files.add(f); files.full || len(files.list.files) == 1 && f.mode&typeMask != folderType {
			return errNoIndex
		}
	}
	if len(files.list.files) == 0 || s.endOfList(all) != io.EOF || !s.setIndex(&files) {
		return errNoIndex
	}
	return nil
}

// request requests a file by its index and returns its content.
func (s *session) request(f *indexedFile) (*content, error) {
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
