package archivecmd

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"path"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tempfile"
	"github.com/anyurl/fetch/internal/format/linesort"
	"github.com/anyurl/fetch/internal/format/store"
	"github.com/anyurl/fetch/warc"
)

// storeIndexes writes the missing indexes of the WARC files in a store.
func (c *indexCommand) storeIndexes(ctx context.Context) error {
	s, err := clientflags.StoreAt(c.store).Open()
	if err != nil {
		return err
	}
	files, indexes, err := clientflags.StoredFiles(ctx, s)
	if err != nil {
		return err
	}
	var damage []error
	written := 0
	for _, file := range files {
		name := store.IndexName(file)
		if indexes[name] {
			continue
		}
		damaged, err := storeIndex(ctx, s, file, name)
		if err != nil {
			return err
		}
		damage = append(damage, damaged...)
		written++
	}
	c.Note("wrote the indexes of %d WARC files; %d had one", written, len(files)-written)
	return errors.Join(damage...)
}

// storeIndex writes the index of one WARC file to the store. It skips damaged
// records and returns them as damage.
func storeIndex(ctx context.Context, s store.Store, file, name string) (damage []error, err error) {
	in, err := s.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var lines linesort.Sorter
	defer lines.Close()
	for line, err := range warc.Lines(path.Base(file), store.Reader(in)) {
		var damaged *warc.Error
		switch {
		case err == nil:
			err = lines.Add([]byte(line.String()))
		case errors.As(err, &damaged):
			damaged.File = file
			damage = append(damage, damaged)
			err = nil
		}
		if err != nil {
			return nil, err
		}
	}
	out, err := tempfile.Create("", "fetch-index-*")
	if err != nil {
		return nil, fetch.Local.With(err)
	}
	defer out.Close()
	sum := sha256.New()
	if err := linesort.Write(io.MultiWriter(out, sum), lines.Sorted()); err != nil {
		return nil, console.LocalError(err)
	}
	size, err := out.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, fetch.Local.With(err)
	}
	return damage, s.Put(ctx, name, out, size, [sha256.Size]byte(sum.Sum(nil)))
}

// printIndex prints the index of all WARC files in a store.
func (c *indexCommand) printIndex(ctx context.Context) error {
	a, err := clientflags.OpenArchives(c.Streams, ctx, c.store)
	if err != nil {
		return err
	}
	defer a.Close()
	w, flush := terminal.NewWriter(c.Stdout)
	for line, err := range a.Search("", 0) {
		if err == nil {
			_, err = io.WriteString(w, line.String()+"\n")
		}
		if err != nil {
			return console.LocalError(err)
		}
	}
	return console.LocalError(flush())
}
