package clientflags

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/arguments"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/store"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/mirror/s3"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// IsStore reports whether text is the URL of a store of WARC files. A file URL
// of an archive file is not the URL of a store.
func IsStore(text string) bool {
	scheme, _, ok := strings.Cut(text, ":")
	return ok && (scheme == "s3" || scheme == "file" && !arguments.HasArchiveSuffix(text))
}

// StoreAt returns the store with the given URL, or nil if the URL is "".
func StoreAt(url string) mirror.Store {
	switch scheme, _, _ := strings.Cut(url, ":"); {
	case url == "":
		return nil
	case strings.EqualFold(scheme, "file"):
		return mirror.FolderStore(url)
	}
	return s3.New(url, s3.Options{Getenv: os.Getenv})
}

// StoredFiles lists a store. It returns the names of the WARC files, and the
// set of the names of their indexes.
func StoredFiles(ctx context.Context, s store.Store) (files []string, indexes map[string]bool, err error) {
	indexes = map[string]bool{}
	for o, err := range s.List(ctx, "") {
		if err != nil {
			return nil, nil, err
		}
		switch name := path.Base(o.Name); {
		case store.IsIndex(o.Name):
			indexes[o.Name] = true
		case warc.IsFileName(name) && !strings.HasSuffix(name, warc.OpenSuffix):
			files = append(files, o.Name)
		}
	}
	if len(files) == 0 {
		return nil, nil, fetch.NotFound.Errorf("store %s: there are no WARC files", uri.Redact(s.String()))
	}
	return files, indexes, nil
}

// OpenArchives opens archives for replay. An argument is a directory, a file, or
// the URL of a store, which must be the only argument.
func OpenArchives(s *console.Streams, ctx context.Context, args ...string) (*warc.Archive, error) {
	for _, text := range args {
		if IsStore(text) && len(args) > 1 {
			return nil, fetch.Usage.Errorf("the store %s excludes other archives", uri.Redact(text))
		}
	}
	var a *warc.Archive
	var err error
	if len(args) == 1 && IsStore(args[0]) {
		a, err = openStored(s, ctx, args[0])
	} else if a, err = warc.Open(args...); fetch.FaultOf(err) == fetch.NotFound {
		err = fmt.Errorf("%w; a mirror has some if it was made with --warc", err)
	}
	if err != nil {
		return nil, err
	}
	for _, damage := range a.Damaged {
		s.Note("%v", damage)
	}
	return a, nil
}

// openStored opens the WARC files in a store. It prints a note if some of them
// have no index and must be read completely.
func openStored(s *console.Streams, ctx context.Context, url string) (*warc.Archive, error) {
	from, err := StoreAt(url).Open()
	if err != nil {
		return nil, err
	}
	files, indexes, err := StoredFiles(ctx, from)
	if err != nil {
		return nil, err
	}
	names, missing := files, 0
	for _, file := range files {
		if index := store.IndexName(file); indexes[index] {
			names = append(names, index)
		} else {
			missing++
		}
	}
	if missing > 0 {
		s.Note("%d of %d WARC files have no index, so they are read completely; fetch index --store writes the indexes", missing, len(files))
	}
	a, err := warc.OpenFiles(store.FS(ctx, from), names...)
	var fault fetch.Fault
	if err != nil && !errors.As(err, &fault) {
		err = fetch.Local.With(err)
	}
	return a, err
}

// IsArchive reports whether text is the name of an existing WARC or WACZ file.
// Otherwise text is a URL.
func IsArchive(text string) bool {
	if !arguments.HasArchiveSuffix(text) {
		return false
	}
	info, err := os.Stat(text)
	return err == nil && info.Mode().IsRegular()
}
