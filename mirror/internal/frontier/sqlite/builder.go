package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

// A Builder recreates the database of an archive from the log and the WARC
// files of the archive. The caller first adds the logged visits with AddVisits,
// in the order of the log. It then adds all WARC records with AddRecords, in
// the order of the files, and calls DropMissingRecords. It then completes
// captures with SetFiles. Finish completes the database.
//
// A Builder does not sync its changes to disk. A database without a successful
// call of Finish must be discarded. A Builder is not safe for concurrent use.
type Builder struct {
	e     *engine
	files map[string]int64 // offset after the last complete record of each WARC file
}

// A LoggedVisit is the Result of a visit, as recorded in the log of an archive.
// The Builder ignores Result.Children and Result.Retry.
type LoggedVisit struct {
	frontier.Result
	Run int64
}

// A Record describes a WARC record of an object, for Builder.AddRecords.
type Record struct {
	Item    frontier.Item    // item to add if the database does not contain the URL
	State   frontier.State   // state of the new item
	Capture frontier.Capture // object in the record

	// Decoded describes the object without its content coding. It is nil if the
	// response has no content coding. The Builder selects the form of the object
	// that was logged for the visit, or else the form in Capture.
	Decoded *Form

	// RefersTo is the ID of the record that contains the object, if this record
	// is a revisit record. The Builder then copies the description of the
	// object from the capture of that record.
	RefersTo string

	// If Elsewhere is true, this record is a revisit record of an object in
	// another archive. The Builder then ignores the record unless the visit was
	// logged.
	Elsewhere bool
}

// A Form is one form of an object.
type Form struct {
	Size   int64
	Digest [32]byte
}

// selectForm replaces the object of the record by its decoded form, if the
// decoded form has the digest of an earlier description of the object.
func (r *Record) selectForm(digest []byte) {
	if r.Decoded != nil && bytes.Equal(digest, r.Decoded.Digest[:]) {
		r.Capture.Size, r.Capture.Digest = r.Decoded.Size, r.Decoded.Digest
	}
}

// NewBuilder creates an empty database at path, which must not exist. The
// parameter layout is the version of the rules for paths in the tree.
func NewBuilder(ctx context.Context, path string, layout int) (*Builder, error) {
	f, err := openSQLite(ctx, path, time.Now)
	if err != nil {
		return nil, err
	}
	b := &Builder{e: f.(*engine), files: map[string]int64{}}
	err = b.write(ctx, func(t *tx) error {
		return errors.Join(t.Exec("update layout set version=?", layout), t.Script(scratchIndexes))
	})
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// scratchIndexes creates indexes that only a Builder uses. Finish removes them.
const scratchIndexes = `create index scratch_place on capture (file, at);
	create index scratch_record on capture (record);
	create index scratch_logged on capture (time) where record=''`

// Frontier returns the database for reading. The caller must not change or
// close it.
func (b *Builder) Frontier() frontier.Frontier { return b.e }

// Close closes the database.
func (b *Builder) Close() error { return b.e.Close() }

// write executes f in a transaction that is not synced to disk.
func (b *Builder) write(ctx context.Context, f func(*tx) error) error {
	s, err := b.e.acquire(ctx, b.e.writer)
	if err != nil {
		return err
	}
	defer func() { b.e.writer <- s }()
	t := newTx(s)
	if err := s.Exec("pragma synchronous=off"); err != nil {
		return classifyError(err)
	}
	return classifyError(s.transact(func() error { return f(t) }))
}

// AddVisits adds logged visits. A later visit of a URL replaces the state of an
// earlier visit. If a path of a capture belongs to another URL, AddVisits
// ignores the path.
func (b *Builder) AddVisits(ctx context.Context, visits []LoggedVisit) error {
	return b.write(ctx, func(t *tx) error {
		for i := range visits {
			if err := t.addVisit(&visits[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *tx) addVisit(v *LoggedVisit) error {
	t.Run = v.Run
	u, err := t.findOrCreate(&v.Item, v.State)
	if err != nil {
		return err
	}
	i := &v.Item
	u.State, u.Run, u.Depth, u.Priority, u.Meta, u.SetMeta, u.Note = v.State, v.Run, i.Depth, i.Priority, i.Meta, true, v.Note
	if v.Capture != nil {
		err := t.claimFree(v.Capture, v.Names)
		if err == nil {
			err = t.InsertCapture(u, &v.Result)
		}
		if err != nil {
			return err
		}
	}
	return t.UpdateURL(u)
}

// findOrCreate returns the URL of an item. It inserts a missing URL with the
// given state.
func (t *tx) findOrCreate(item *frontier.Item, state frontier.State) (*rules.URL, error) {
	u, err := t.FindURL(item.Key)
	if u != nil || err != nil {
		return u, err
	}
	h, err := t.FindHost(item.Host)
	if err != nil {
		return nil, err
	}
	return t.Create(item, h, state, sql.NullInt64{})
}

// claimFree reserves the names for c.Path. If a name belongs to another URL, it
// reserves no names and clears c.Path.
func (t *tx) claimFree(c *frontier.Capture, names []frontier.Name) error {
	for _, n := range names {
		var has []byte
		switch err := t.Scan("select key from name where fold=?", []any{n.Fold}, &has); {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		case string(has) != string(n.Key.Column()):
			c.Path = ""
			return nil
		}
	}
	return t.claimNames(names)
}

// AddRecords adds WARC records. A record completes the logged capture with the
// same URL that has the same file and offset, or else the same time. Any other
// record becomes a new capture, unless it refers to an unknown record.
func (b *Builder) AddRecords(ctx context.Context, records []Record) (added int, err error) {
	err = b.write(ctx, func(t *tx) error {
		for i := range records {
			is, err := t.addRecord(&records[i])
			if err != nil {
				return err
			}
			added += is
		}
		return nil
	})
	return added, err
}

// addRecord adds a record and returns the number of new captures.
func (t *tx) addRecord(r *Record) (added int, err error) {
	c := &r.Capture
	if r.RefersTo != "" {
		first, err := t.captureOf("c.id = (select min(id) from capture where record=?)", r.RefersTo)
		if errors.Is(err, sql.ErrNoRows) {
			return 0, nil
		} else if err != nil {
			return 0, err
		}
		c.Kind, c.Media, c.Size, c.Digest, c.Code = first.Kind, first.Media, first.Size, first.Digest, first.Code
	}
	file, err := t.file(c.File)
	if err != nil {
		return 0, err
	}
	id, digest, err := t.loggedCapture(c, file)
	switch {
	case errors.Is(err, sql.ErrNoRows) && r.Elsewhere:
		return 0, nil
	case errors.Is(err, sql.ErrNoRows):
		return t.addUnloggedRecord(r)
	case err != nil:
		return 0, err
	}
	err = t.Exec("update capture set file=?, at=?, bytes=?, record=?, proof=? where id=?",
		file, c.Offset, c.Length, c.ID, c.Proof, id)
	if r.Elsewhere || err != nil {
		return 0, err
	}
	r.selectForm(digest)
	return 0, t.Exec(`update capture set digest=?, sum=?, size=?, validator=iif(validator='', ?, validator),
		modified=coalesce(modified, ?) where id=?`, c.Digest[:], sumOf(c.Digest), c.Size, c.Validator, rules.NullTime(c.Modified), id)
}

// loggedCapture returns the row number and the digest of the logged capture to
// which the record c belongs. After the visit was logged, a repair may have
// moved the record to another file. The capture then has the same URL and time
// as the record.
func (t *tx) loggedCapture(c *frontier.Capture, file int64) (id int64, digest []byte, err error) {
	const query = "select c.id, c.digest from capture c join url u on u.ID=c.item where coalesce(c.url, u.url)=? and "
	err = t.Scan(query+"c.file=? and c.at=?", []any{c.URL, file, c.Offset}, &id, &digest)
	if errors.Is(err, sql.ErrNoRows) {
		err = t.Scan(query+"c.time=? and c.record='' and c.file is not null", []any{c.URL, rules.NullTime(c.Time)}, &id, &digest)
	}
	return id, digest, err
}

// addUnloggedRecord adds a record that belongs to no logged capture, and
// returns the number of new captures. The record becomes the newest capture of
// its URL unless the URL has a later one. A record with the same object as the
// newest capture is not a new capture, as in a run.
func (t *tx) addUnloggedRecord(r *Record) (added int, err error) {
	c := &r.Capture
	t.Run = max(c.Run, 1)
	u, err := t.findOrCreate(&r.Item, r.State)
	if err != nil {
		return 0, err
	}
	newest, err := t.captureOf("c.id = (select last from url where id=?)", u.ID)
	has := err == nil
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	if has {
		r.selectForm(newest.Digest[:])
	}
	if has && newest.Digest == c.Digest && newest.Code == c.Code {
		if newest.ID != "" {
			return 0, nil
		}
		c.Path, c.Validator, c.Modified = newest.Path, cmp.Or(c.Validator, newest.Validator), newest.Modified
	}
	switch err := t.InsertCapture(u, &frontier.Result{Item: r.Item, Capture: c}); {
	case err != nil:
		return 0, err
	case has && newest.Time.After(c.Time):
		return 1, t.moveLast(u.ID)
	}
	return 1, t.Exec("update url set last=?1, state=iif(state=?2, ?3, state) where id=?4", u.Last, int(frontier.Dead), int(r.State), u.ID)
}

// moveLast gives the newest capture of a URL the highest row number. Captures
// are ordered by row number.
func (t *tx) moveLast(url int64) error {
	const columns = `item, key, url, run, time, kind, media, code, size, digest, sum, validator, modified, path, file, at,
		bytes, record, proof, checksum`
	id, err := t.insert("insert into capture ("+columns+") select "+columns+
		" from capture where id=(select last from url where id=?)", url)
	if err != nil {
		return err
	}
	err = t.Exec("delete from capture where id=(select last from url where id=?)", url)
	return errors.Join(err, t.Exec("update url set last=? where id=?", id, url))
}

// HasPlace reports whether the record of a capture is at the given offset of a
// WARC file.
func (b *Builder) HasPlace(ctx context.Context, file string, offset int64) (has bool, err error) {
	err = b.e.read(ctx, func(s *session) error {
		return s.Scan(`select exists (select 1 from capture c join file f on f.id=c.file where f.name=? and c.at=?)`,
			[]any{file, offset}, &has)
	})
	return has, err
}

// SetEnd records the offset after the last complete record of a WARC file.
func (b *Builder) SetEnd(file string, end int64) { b.files[file] = end }

// DropMissingRecords removes the file and offset of logged captures whose WARC
// records were not added. It returns the number of these captures.
func (b *Builder) DropMissingRecords(ctx context.Context) (lost int64, err error) {
	err = b.write(ctx, func(t *tx) error {
		err := t.Scan("select count(*) from capture where file is not null and record=''", nil, &lost)
		if err != nil {
			return err
		}
		return t.Exec("update capture set file=null, sum=null, at=0, bytes=0 where file is not null and record=''")
	})
	return lost, err
}

// A RunRecord describes the newest run of an archive.
type RunRecord struct {
	Number  int64
	Note    []byte // as passed to Begin
	Started time.Time
}

// Finish completes the database. The run r counts as interrupted, so that the
// next call of Begin starts a new run. After Finish, the caller may only read the
// database and call Close.
func (b *Builder) Finish(ctx context.Context, r RunRecord) error {
	err := b.write(ctx, func(t *tx) error {
		for name, end := range b.files {
			err := t.Exec(`insert into file (name, ends) values (?1, ?2)
				on conflict (name) do update set ends=?2`, name, end)
			if err != nil {
				return err
			}
		}
		err := t.Exec("insert into run (id, note, started) values (?, ?, ?)", r.Number, r.Note, rules.Micros(r.Started))
		if err != nil {
			return err
		}
		return errors.Join(t.Script(countRows), t.countStates(r.Number))
	})
	if err != nil {
		return err
	}
	return b.checkpoint(ctx)
}

// countRows removes the scratch indexes and computes the totals that a Frontier
// otherwise updates in each transaction.
const countRows = `drop index scratch_place;
	drop index scratch_record;
	drop index scratch_logged;
	update host set due=0, pending=(select count(*) from url u where u.host=host.id and u.state=0 and u.wait is null);
	update book set live=0, urls=(select count(*) from url), captures=(select count(*) from capture),
		bytes=(select coalesce(sum(size), 0) from capture)`

// countStates counts the URLs in each state. It counts the pending URLs of all
// runs, and the other URLs of the newest run.
func (t *tx) countStates(run int64) error {
	if _, err := t.load(); err != nil {
		return err
	}
	t.Run = run
	for state := range t.Tally.States {
		// A single query with GROUP BY would sort all rows in memory.
		err := t.Scan("select count(*) from url where state=?1 and (state=0 or run=?2)", []any{state, run}, &t.Tally.States[state])
		if err != nil {
			return err
		}
	}
	err := t.Scan("select count(*) from url where state=? and run<>?", []any{int(frontier.Done), run}, &t.Tally.Before)
	return errors.Join(err, t.store())
}

// checkpoint copies the write-ahead log of SQLite to the database file and
// syncs the file.
func (b *Builder) checkpoint(ctx context.Context) error {
	s, err := b.e.acquire(ctx, b.e.writer)
	if err != nil {
		return err
	}
	defer func() { b.e.writer <- s }()
	if err := s.Exec("pragma synchronous=full"); err != nil {
		return classifyError(err)
	}
	return classifyError(s.Exec("pragma wal_checkpoint(truncate)"))
}
