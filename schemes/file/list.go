package file

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/entries"
	"github.com/anyurl/fetch/internal/media"
	"github.com/anyurl/fetch/uri"
)

// list prepares the listing of a directory. The Response's URL ends in a
// slash, so that it is a base for what is found there.
func (d *driver) list(ctx context.Context, src *source, p place, info fs.FileInfo, req *fetch.Request) (*fetch.Response, error) {
	p.dir = true
	u, err := req.URL.WithPath(p.path())
	if err != nil {
		return nil, fetch.BadURL.With(err)
	}
	resp := &fetch.Response{
		URL:   u,
		Kind:  fetch.Menu,
		Media: entries.Media,
		Proto: "file",
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

// batch is how many entries are held and sorted at a time.
const batch = 4096

// listing reads a directory batch by batch. The first two are read at once:
// where there is no second, the first is sorted.
type listing struct {
	driver *driver
	source *source
	dir    place
	base   uri.URI
	trace  *fetch.Trace

	started bool
	infos   []fs.FileInfo // not yet told
	err     error         // after infos
}

func (l *listing) next() (fetch.Entry, error) {
	if err := l.source.ended(); err != nil {
		return fetch.Entry{}, err
	}
	if !l.started {
		l.start()
	}
	for len(l.infos) == 0 {
		if l.err != nil {
			return fetch.Entry{}, l.err
		}
		l.infos = l.more()
	}
	info := l.infos[0]
	l.infos = l.infos[1:]
	return l.entry(info)
}

func (l *listing) start() {
	l.started = true
	l.infos = l.more()
	if l.err == nil {
		l.infos = append(l.infos, l.more()...)
	}
	if l.err != nil && len(l.infos) <= batch {
		slices.SortFunc(l.infos, func(a, b fs.FileInfo) int { return cmp.Compare(a.Name(), b.Name()) })
		return
	}
	l.trace.Notef("directory of more than %d entries is listed unsorted", batch)
}

// more reads a batch. What vanishes meanwhile is left out.
func (l *listing) more() []fs.FileInfo {
	infos, err := l.source.file.Readdir(batch)
	if err != nil && err != io.EOF {
		err = l.source.fail(err)
	}
	l.err = err
	return infos
}

func (l *listing) entry(info fs.FileInfo) (fetch.Entry, error) {
	at := l.dir.child(info.Name())
	e := fetch.Entry{Name: info.Name(), Size: -1, Time: printable(info.ModTime()), Extra: map[string]string{}}
	target := info.Mode()
	if target&fs.ModeSymlink != 0 {
		e.Extra["link"], _ = l.driver.readlink(at)
		followed, err := l.driver.stat(at)
		if err != nil { // it leads nowhere, or in a circle, or out of the root
			e.URL, err = l.base.WithPath(at.path())
			return e, err
		}
		info, target = followed, followed.Mode()
	}
	switch {
	case target.IsDir():
		at.dir = true
		e.Kind, e.Media = fetch.Menu, entries.Media
	case target.IsRegular():
		e.Kind, e.Media, e.Size = fetch.Document, media.ByName(e.Name), info.Size()
	default:
		e.Kind, e.Extra["type"] = fetch.Info, typeOf(target)
		return e, nil
	}
	var err error
	e.URL, err = l.base.WithPath(at.path())
	return e, err
}

// printable is t, or unknown where records cannot hold its year.
func printable(t time.Time) time.Time {
	if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}
