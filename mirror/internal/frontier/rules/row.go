package rules

import (
	"database/sql"
	"fmt"
	"iter"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// CaptureColumns lists the columns that ScanCapture reads. The aliases of the
// tables capture, url and file are c, u and f. The row of the table capture can
// be missing.
const CaptureColumns = `coalesce(c.id, 0), coalesce(c.key, u.key), coalesce(c.url, u.url), coalesce(c.run, 0), c.time,
	coalesce(c.kind, ''), c.media, coalesce(c.code, 0), coalesce(c.size, 0), c.digest, c.validator, c.modified, c.path,
	coalesce(f.name, ''), coalesce(c.at, 0), coalesce(c.bytes, 0), c.record, c.proof, coalesce(c.checksum, 0)`

// CaptureTables is the SQL clause that joins the tables of CaptureColumns.
const CaptureTables = " from capture c join url u on u.id = c.item left join file f on f.id = c.file "

// captureRow contains the columns of a capture. A text from a server is a blob
// in PostgreSQL.
type captureRow struct {
	frontier.Capture
	id                                                 int64
	time, modified                                     sql.NullInt64
	key, url, media, digest, validator, path, rid, sum []byte
	checksum                                           int64
}

func (r *captureRow) fields() []any {
	return []any{&r.id, &r.key, &r.url, &r.Run, &r.time, &r.Kind, &r.media, &r.Code, &r.Size, &r.digest, &r.validator,
		&r.modified, &r.path, &r.File, &r.Offset, &r.Length, &r.rid, &r.sum, &r.checksum}
}

func (r *captureRow) capture() *frontier.Capture {
	c := &r.Capture
	copy(c.Key[:], r.key)
	copy(c.Digest[:], r.digest)
	c.URL, c.Media, c.Validator, c.Path = string(r.url), string(r.media), string(r.validator), string(r.path)
	c.Time, c.Modified = TimeOf(r.time), TimeOf(r.modified)
	c.ID, c.Proof, c.Checksum = string(r.rid), string(r.sum), uint32(r.checksum)
	return c
}

// ScanCapture reads a capture and its row number with the method scan of a row.
func ScanCapture(scan func(...any) error) (c frontier.Capture, id int64, err error) {
	var r captureRow
	err = scan(r.fields()...)
	return *r.capture(), r.id, err
}

// RowColumns lists the columns that ScanRow reads.
const RowColumns = `u.id, u.key, u.url, u.via, u.depth, u.prio, u.wait, u.meta, u.run,
	case when u.run = (select run from book) then u.attempts else 0 end, u.note`

// ItemColumns lists the columns that ScanItem reads.
const ItemColumns = RowColumns + ", " + CaptureColumns

// LastCapture is the SQL clause that joins the newest capture of a URL and its
// file to the table url, whose alias is u.
const LastCapture = " left join capture c on c.id = u.last left join file f on f.id = c.file "

// ScanItem reads an item and its row number with the method scan of a row. It
// reads the following columns into the variables in more.
func ScanItem(scan func(...any) error, more ...any) (item frontier.Item, id int64, err error) {
	var c captureRow
	item, id, err = ScanRow(scan, append(c.fields(), more...)...)
	if c.id != 0 && err == nil {
		item.LastCapture = c.capture()
	}
	return item, id, err
}

// ScanRow is like ScanItem, but does not read the newest capture. Most URLs that
// a crawl visits have no capture, and reading its columns takes longer than
// reading the columns of the item.
func ScanRow(scan func(...any) error, more ...any) (item frontier.Item, id int64, err error) {
	var key, url, via, note []byte
	var wait sql.NullInt64
	to := []any{&id, &key, &url, &via, &item.Depth, &item.Priority, &wait, &item.Meta, &item.Run, &item.Attempts, &note}
	if err := scan(append(to, more...)...); err != nil {
		return item, 0, err
	}
	copy(item.Key[:], key)
	copy(item.Via[:], via)
	item.URL, item.Note = string(url), string(note)
	if wait.Int64 != FarFuture {
		item.NotBefore = TimeOf(wait)
	}
	return item, id, nil
}

// ScanFile reads a file and the row number of its URL.
func ScanFile(scan func(...any) error) (f frontier.File, id int64, err error) {
	var path, digest []byte
	var state int
	err = scan(&id, &state, &path, &digest)
	f.Path, f.State = string(path), frontier.State(state)
	copy(f.Digest[:], digest)
	return f, id, err
}

// ScanStored reads a capture with a WARC record and its row number.
func ScanStored(scan func(...any) error) (s frontier.Stored, id int64, err error) {
	s.Capture, s.Row, err = ScanCapture(scan)
	return s, s.Row, err
}

// ScanLine reads a line of the log of visits and its row number.
func ScanLine(scan func(...any) error) (line []byte, id int64, err error) {
	err = scan(&id, &line)
	return line, id, err
}

// Pages returns an iterator over rows. It calls read for each page with the
// number of the last row, or 0 for the first page. The result more is false for
// the last page. If the rows do not ascend, the sequence ends with an error that
// wraps frontier.ErrDamaged: a hostile database could send the same page forever.
func Pages[T any](read func(after int64) (page []T, last int64, more bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for after, more := int64(0), true; more; {
			var page []T
			var err error
			last := after
			if page, after, more, err = read(last); err == nil && more && after <= last {
				err = fmt.Errorf("%w: row %d follows row %d", frontier.ErrDamaged, after, last)
			}
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, row := range page {
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}
