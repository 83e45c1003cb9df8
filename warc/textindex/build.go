package textindex

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// A Summary describes the work of [Build].
type Summary struct {
	Added, Kept, Removed int   // texts
	Damaged              int   // captures whose record cannot be read
	Bytes                int64 // size of the index
	Replaced             error // why an earlier index was not continued, or nil
}

// Build writes the text index of archive to the file at path. It continues an
// earlier index: it reads only the captures that this index does not have, and
// removes those that the archive no longer has. The new file replaces the old one
// when it is complete. The function scheme returns the scheme with the given name,
// or the zero Scheme.
func Build(ctx context.Context, path string, archive *warc.Archive, scheme func(name string) fetch.Scheme) (s Summary, err error) {
	b := &builder{archive: archive, scheme: scheme, summary: &s}
	temporary, replaced, err := startFile(ctx, path)
	if err != nil {
		return s, err
	}
	defer os.Remove(temporary) // fails after the rename
	s.Replaced = replaced
	if b.conn, err = sqlite.Open(source(temporary)); err != nil {
		return s, fetch.Local.With(err)
	}
	b.conn.SetInterrupt(ctx.Done())
	err = b.run(ctx)
	b.conn.SetInterrupt(nil)
	if err = errors.Join(err, b.conn.Close()); err != nil {
		return s, classify(ctx, err)
	}
	if s.Bytes, err = publish(temporary, path); err != nil {
		return s, fetch.LocalError(err)
	}
	return s, nil
}

// classify returns err with a fault.
func classify(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fetch.Canceled.With(ctx.Err())
	}
	return fetch.LocalError(err)
}

// startFile creates the file of a new index beside path. It is a copy of the
// earlier index, if any. If the earlier index is unusable, startFile returns the
// reason.
func startFile(ctx context.Context, path string) (temporary string, replaced, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part")
	if err != nil {
		return "", nil, fetch.LocalError(err)
	}
	defer f.Close()
	old, err := openFile(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return f.Name(), nil, nil
	}
	if err != nil {
		return f.Name(), err, nil
	}
	old.Close()
	in, err := regularfile.Open(path)
	if err == nil {
		defer in.Close()
		err = copyData(ctx, f, in)
	}
	if err != nil {
		os.Remove(f.Name())
		return "", nil, classify(ctx, err)
	}
	return f.Name(), nil, nil
}

// copyData copies in to the empty file out, except for blocks of zeros. A forged
// index can be a sparse file, whose holes take no space on disk.
func copyData(ctx context.Context, out, in *os.File) error {
	block, zeros := make([]byte, 64<<10), make([]byte, 64<<10)
	for at := int64(0); ; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n, err := in.Read(block)
		if err == io.EOF {
			return out.Truncate(at)
		}
		if err == nil && !bytes.Equal(block[:n], zeros[:n]) {
			_, err = out.WriteAt(block[:n], at)
		}
		if err != nil {
			return err
		}
		at += int64(n)
	}
}

// publish gives the complete file its name, and returns its size.
func publish(temporary, path string) (size int64, err error) {
	f, err := os.OpenFile(temporary, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return 0, err
	}
	if err := os.Rename(temporary, path); err != nil {
		return 0, err
	}
	return info.Size(), regularfile.SyncNames(filepath.Dir(path))
}

// A builder adds the texts of an archive to an index.
type builder struct {
	archive *warc.Archive
	scheme  func(name string) fetch.Scheme
	conn    *sqlite.Conn
	summary *Summary
	seen    []uint64 // a bit for each row of an earlier index whose capture the archive has
	last    int64    // the last row of the earlier index
}

// run updates the tables in one transaction. A failure leaves a useless file,
// which no other process uses, so that SQLite needs no journal.
func (b *builder) run(ctx context.Context) error {
	err := b.conn.Script("pragma journal_mode(off); pragma synchronous(off); pragma temp_store(file); pragma cache_size(-16384)")
	var id int
	if err == nil {
		err = b.conn.Scan("pragma application_id", nil, &id)
	}
	if err == nil && id == 0 {
		err = create(b.conn)
	}
	if err == nil {
		err = b.conn.Scan("select coalesce(max(id), 0) from doc", nil, &b.last)
	}
	if err == nil && b.last > maxRows {
		err = errors.New("the index has invalid rows")
	}
	if err != nil {
		return err
	}
	b.seen = make([]uint64, b.last/64+1)
	if err := b.conn.Script("begin"); err != nil {
		return err
	}
	err = b.addPages(ctx)
	if err == nil {
		err = b.addCaptures(ctx)
	}
	if err == nil {
		err = b.removeMissing()
	}
	if err == nil {
		err = b.conn.Script("commit")
	}
	return err
}

// maxRows limits the number of texts of an index.
const maxRows = 1 << 28

// addPages adds the texts in the page lists of WACZ files. Such a text can have
// words that scripts added to the page. It is stored, because its record does not
// have these words.
func (b *builder) addPages(ctx context.Context) error {
	for e, err := range b.archive.Pages() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			break // the texts are then read from the records
		}
		text := e.Extra["text"]
		if text == "" {
			continue
		}
		for l, err := range b.archive.Lookup(e.URL.WithoutFragment()) {
			if err == nil && kindOfLine(l) == Page && l.Timestamp == e.Time.UTC().Format(timestampForm) {
				if err := b.add(ctx, l, e.Name, text[:min(len(text), maxText)]); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// timestampForm is the format of the timestamps in an index.
const timestampForm = "20060102150405"

// addCaptures adds the texts of all captures. Of equal captures of a URL, it adds
// the first.
func (b *builder) addCaptures(ctx context.Context) error {
	var earlier warc.Line
	for l, err := range b.archive.Search("", 0) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		same := l.Digest != "" && l.Digest == earlier.Digest && l.URL == earlier.URL
		if kindOfLine(l) == "" || same {
			continue
		}
		earlier = l
		if err := b.add(ctx, l, "", ""); err != nil {
			return err
		}
	}
	return nil
}

// add adds a capture unless the index has it. If text is empty, add reads the text
// from the record.
func (b *builder) add(ctx context.Context, l warc.Line, title, text string) error {
	var id int64
	err := b.conn.Scan("select id from doc where file=? and offset=?", []any{l.File, l.Offset}, &id)
	if err == nil {
		if id > 0 && id <= b.last && b.seen[id/64]&(1<<(id%64)) == 0 {
			b.seen[id/64] |= 1 << (id % 64)
			b.summary.Kept++
		}
		return nil
	}
	u, failed := baseuri.ParseAbsolute(l.URL)
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if failed != nil || len(l.URL) > maxURL || len(l.Timestamp) != len(timestampForm) {
		return nil
	}
	kind, d, stored := kindOfLine(l), document{title, text}, []byte(text)
	if text == "" {
		if d, err = readCapture(ctx, b.archive, b.scheme(u.Scheme()), u, kind, l); err != nil {
			b.summary.Damaged++
			return ctx.Err()
		}
		stored = nil
	}
	err = b.conn.Exec("insert into doc (file, offset, timestamp, url, text) values (?, ?, ?, ?, ?)", l.File, l.Offset, l.Timestamp, l.URL, stored)
	id = b.conn.LastID()
	title, facets := joined(d.title), facetsOf(u.Scheme(), u.Host(), kind, l.Timestamp)
	if err == nil {
		err = b.conn.Exec("insert into word (rowid, title, body, facet) values (?, ?, ?, ?)", id, title, joined(d.body), facets)
	}
	if err == nil {
		err = b.conn.Exec("insert into heading (rowid, title, facet) values (?, ?, ?)", id, title, facets)
	}
	b.summary.Added++
	return err
}

// readCapture reads the text of a capture.
func readCapture(ctx context.Context, archive *warc.Archive, scheme fetch.Scheme, u uri.URI, kind Kind, l warc.Line) (document, error) {
	from := *archive // the copy shares the files
	from.Decode, from.Raw = true, false
	resp, err := from.Replay(ctx, &fetch.Request{URL: u}, l)
	if err != nil {
		return document{}, err
	}
	defer resp.Body.Close()
	return read(kind, scheme, resp)
}

// removeMissing removes the rows of an earlier index whose captures the archive
// does not have.
func (b *builder) removeMissing() error {
	var missing []int64
	err := b.conn.ForEachRow("select id from doc where id <= ?", []any{b.last}, func(r *sqlite.Row) error {
		var id int64
		err := r.Scan(&id)
		if id <= 0 || b.seen[id/64]&(1<<(id%64)) == 0 {
			missing = append(missing, id)
		}
		return err
	})
	for _, id := range missing {
		for _, table := range []string{"word", "heading", "doc"} {
			if err == nil {
				err = b.conn.Exec("delete from "+table+" where rowid=?", id)
			}
		}
	}
	b.summary.Removed = len(missing)
	return err
}
