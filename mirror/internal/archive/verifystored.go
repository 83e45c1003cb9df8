package archive

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"

	"github.com/anyurl/fetch/internal/base/tempfile"
	"github.com/anyurl/fetch/internal/format/store"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/warc"
)

// VerifyStored checks the WARC files in the store of a crawl with a shared
// frontier. It reads every stored file and compares its size and its digest
// with the database. It verifies all records, and checks that each capture in
// the database has its record. It also lists the objects of the store that the
// database does not record, and the files that are not in the store yet.
//
// VerifyStored calls report for each problem and stops when report returns false.
// The field Finding.Path is the name of a file. If URLs are still pending,
// VerifyStored returns ErrIncomplete after all checks.
func VerifyStored(ctx context.Context, f frontier.Shared, s store.Store, report func(Finding) bool) error {
	v := &storedVerifier{reporter: report, ctx: ctx, frontier: f, ledger: f.Ledger(), store: s}
	if err := v.verify(); !errors.Is(err, errStop) {
		return err
	}
	return nil
}

// A storedVerifier is the state of one call of VerifyStored.
type storedVerifier struct {
	reporter
	ctx      context.Context
	frontier frontier.Frontier
	ledger   frontier.Ledger
	store    store.Store
	err      error // error that ended the sequence of files
	records  warc.RecordVerifier
	buffer   []byte
}

func (v *storedVerifier) verify() error {
	for f, err := range warc.VerifyReaders(v.files()) {
		if err == nil && v.err == nil {
			err = v.addRecord(f.File, f)
		}
		if err = errors.Join(err, v.err); err != nil {
			return err
		}
	}
	if v.err != nil {
		return v.err
	}
	if err := v.findUnrecorded(); err != nil {
		return err
	}
	stats, err := v.frontier.Stats(v.ctx)
	if err == nil && isIncomplete(&stats) {
		err = ErrIncomplete
	}
	return err
}

// files returns the files in the store. It first compares each file with the
// database. After an error, the sequence ends, and v.err is not nil.
func (v *storedVerifier) files() iter.Seq2[string, io.Reader] {
	return func(yield func(string, io.Reader) bool) {
		for f, err := range v.ledger.All(v.ctx) {
			if err == nil {
				err = v.file(&f, func(r io.Reader) bool { return yield(f.Name, r) })
			}
			if err != nil {
				v.err = err
				return
			}
		}
	}
}

// file compares one file with the database. If the file is in the store, its
// content is passed to the function use.
func (v *storedVerifier) file(f *frontier.WARCFile, use func(io.Reader) bool) error {
	switch f.State {
	case frontier.FileWritten:
		return v.add(Finding{Path: f.Name, Text: "the worker " + f.Worker + " has not finished the file", Note: true})
	case frontier.FileFinished:
		return v.add(Finding{Path: f.Name, Text: "the file waits for its upload by the worker " + f.Worker, Note: true})
	}
	local, size, digest, err := v.download(f.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return v.add(Finding{Path: f.Name, Text: "the store lacks the file"})
	}
	if err != nil {
		return err
	}
	defer local.Close()
	switch {
	case size != f.Size:
		err = v.add(Finding{Path: f.Name, Text: fmt.Sprintf("the object has %d bytes, but the database has %d", size, f.Size)})
	case digest != f.SHA256:
		err = v.add(Finding{Path: f.Name, Text: mismatch + "the database"})
	}
	if err == nil {
		err = v.checkCaptures(f.Name, local)
	}
	if err != nil {
		return err
	}
	if _, err := local.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if !use(local) {
		return errStop
	}
	return nil
}

// download copies an object to a temporary file, because the records are read in
// two passes.
func (v *storedVerifier) download(name string) (f tempfile.File, size int64, digest [32]byte, err error) {
	object, err := v.store.Open(v.ctx, name)
	if err != nil {
		return f, 0, digest, err
	}
	defer object.Close()
	if f, err = tempfile.Create("", "fetch-verify-*"); err != nil {
		return f, 0, digest, err
	}
	if size, digest, err = hashObject(io.TeeReader(store.Reader(object), f)); err != nil {
		f.Close()
		err = fmt.Errorf("%s: %w", name, err)
	}
	return f, size, digest, err
}

// checkCaptures checks that the records of all captures in a file exist.
func (v *storedVerifier) checkCaptures(name string, file io.ReaderAt) error {
	for s, err := range v.frontier.RecordsIn(v.ctx, name) {
		if err == nil && !v.hasRecord(&s.Capture, file) {
			err = v.add(Finding{Path: name, Text: fmt.Sprintf("at %d: the record of %s does not match the database", s.Offset, s.URL)})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hasRecord reports whether file contains the record of c.
func (v *storedVerifier) hasRecord(c *frontier.Capture, file io.ReaderAt) bool {
	h := v.records.Header(file, c.Offset)
	if h == nil || !describes(c, h) {
		return false
	}
	if c.Checksum == 0 {
		return true
	}
	if v.buffer == nil {
		v.buffer = make([]byte, 64<<10)
	}
	sum := crc32.NewIEEE()
	n, err := io.CopyBuffer(sum, struct{ io.Reader }{io.NewSectionReader(file, c.Offset, c.Length)}, v.buffer)
	return err == nil && n == c.Length && sum.Sum32() == c.Checksum
}

// findUnrecorded reports the objects in the store that the database does not
// record.
func (v *storedVerifier) findUnrecorded() error {
	const chunk = 1000
	var names []string
	check := func() error {
		found, err := v.ledger.Find(v.ctx, names)
		if err != nil {
			return err
		}
		recorded := map[string]bool{}
		for _, f := range found {
			recorded[f.Name] = true
		}
		for _, name := range names {
			if !recorded[name] {
				if err := v.add(Finding{Path: name, Text: "the database does not record the object", Note: true}); err != nil {
					return err
				}
			}
		}
		names = names[:0]
		return nil
	}
	for object, err := range v.store.List(v.ctx, "") {
		if err == nil && !store.IsIndex(object.Name) {
			if names = append(names, object.Name); len(names) == chunk {
				err = check()
			}
		}
		if err != nil {
			return err
		}
	}
	return check()
}
