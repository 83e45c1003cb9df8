package warc

import (
	"io"
	"io/fs"
	"os"

	"github.com/anyurl/fetch/internal/base/regularfile"
)

// A folder is the directory in which a Writer creates its files. Tests replace
// it with a directory whose operations fail. Each method except Sync behaves
// like the method of [os.Root] with the same name.
type folder interface {
	OpenFile(name string, flag int, perm fs.FileMode) (file, error)
	Lstat(name string) (fs.FileInfo, error)
	Rename(from, to string) error
	Remove(name string) error
	Sync() error // commits the names in the folder to stable storage
}

// A file is an open file in a folder.
type file interface {
	io.ReadWriteSeeker
	io.Closer
	Truncate(size int64) error
	Sync() error
}

// rootFolder implements folder with an os.Root.
type rootFolder struct{ *os.Root }

func (r rootFolder) OpenFile(name string, flag int, perm fs.FileMode) (file, error) {
	f, err := regularfile.OpenFileIn(r.Root, name, flag, perm)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Sync commits the directory to stable storage. It has no effect on systems
// that cannot sync a directory.
func (r rootFolder) Sync() error { return regularfile.SyncFolder(r.Root) }
