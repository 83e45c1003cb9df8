package localfile

import (
	"context"
	"io"
	"io/fs"
	"sort"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/uri"
)

// list returns the Response for the open directory src. Its body is the
// listing. The URL of the Response ends in a slash, so that relative references
// resolve against the directory.
func (d *driver) list(
	ctx context.Context, src *source, p Place, info fs.FileInfo, req *fetch.Request,
) (*fetch.Response, error) {
	p.dir = true
	u, err := req.URL.WithPath(p.path())
	if err != nil {
		return nil, fetch.BadURL.With(err)
	}
	resp := &fetch.Response{
		URL:   u,
		Kind:  fetch.Menu,
		Media: entries.Media,
		Proto: proto(req),
		Size:  -1,
		Time:  info.ModTime(),
	}
	if req.Op == fetch.Stat {
		return resp, nil
	}
	l := &listing{driver: d, source: src, dir: p, base: u.WithoutFragment(), trace: req.Trace}
	resp.Body = body{entries.NewReader(l.next), src}
	return resp, nil
}

// batchSize is the number of directory entries that are read at a time. A
// directory with more entries is not sorted.
const batchSize = 4096

// A listing reads the entries of a directory in batches. It reads two batches
// at the start. If the second batch is empty, it sorts the first batch.
type listing struct {
	driver *driver
	source *source
	dir    Place
	base   uri.URI
	trace  *trace.Trace

	started bool
	infos   []fs.FileInfo // read but not yet returned
	err     error         // error to return after infos
}

func (l *listing) next() (fetch.Entry, error) {
	if err := l.source.readable(); err != nil {
		return fetch.Entry{}, err
	}
	if !l.started {
		l.start()
	}
	for len(l.infos) == 0 {
		if l.err != nil {
			return fetch.Entry{}, l.err
		}
		l.infos = l.readBatch()
	}
	info := l.infos[0]
	l.infos = l.infos[1:]
	return l.entry(info)
}

func (l *listing) start() {
	l.started = true
	l.infos = l.readBatch()
	if l.err == nil {
		l.infos = append(l.infos, l.readBatch()...)
	}
	if l.err != nil && len(l.infos) <= batchSize {
		sort.Slice(l.infos, func(i, j int) bool { return l.infos[i].Name() < l.infos[j].Name() })
		return
	}
	l.trace.Notef("directory has more than %d entries: listed in file system order", batchSize)
}

// readBatch reads the next batch of entries. It omits files that are deleted
// while the directory is read.
func (l *listing) readBatch() []fs.FileInfo {
	infos, err := l.source.file.Readdir(batchSize)
	if err != nil && err != io.EOF {
		err = l.source.wrapError(err)
	}
	l.err = err
	return infos
}

func (l *listing) entry(info fs.FileInfo) (fetch.Entry, error) {
	at := l.dir.child(info.Name())
	e := fetch.Entry{Name: info.Name(), Size: -1, Time: validTime(info.ModTime()), Extra: map[string]string{}}
	mode := info.Mode()
	if mode&fs.ModeSymlink != 0 {
		e.Extra["link"], _ = l.driver.readlink(at)
		followed, err := l.driver.stat(at)
		if err != nil { // broken link, link loop, or target outside the root
			e.URL, err = l.base.WithPath(at.path())
			return e, err
		}
		info, mode = followed, followed.Mode()
	}
	switch {
	case mode.IsDir():
		at.dir = true
		e.Kind, e.Media = fetch.Menu, entries.Media
	case mode.IsRegular():
		e.Kind, e.Media, e.Size = fetch.Document, media.ByName(e.Name), info.Size()
	default:
		e.Kind, e.Extra["type"] = fetch.Info, typeOf(mode)
		return e, nil
	}
	var err error
	e.URL, err = l.base.WithPath(at.path())
	return e, err
}

// validTime returns t in UTC, or the zero time if the year of t is not valid in
// RFC 3339.
func validTime(t time.Time) time.Time {
	if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}
