package nfs

import (
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/internal/wire/oncrpc"
	"github.com/anyurl/fetch/uri"
)

const (
	directorySize = 16 << 10 // bytes of names in a reply
	replySize     = 64 << 10
	maxBatch      = 4096 // entries of a reply
)

// A directoryEntry is a directory entry that the server listed.
type directoryEntry struct {
	name  string
	known bool // the attributes are known
	node
}

// A directoryReader reads the entries of a directory.
type directoryReader struct {
	s    *session
	root root
	dir  node
	path []string // path of the directory, relative to the root
	base uri.URI  // ends in a slash

	cookie    uint64
	verifier  []byte
	namesOnly bool // the server does not support READDIRPLUS
	found     []directoryEntry
	ended     bool
}

// entry returns the next entry of the listing.
func (r *directoryReader) entry() (e fetch.Entry, err error) {
	for len(r.found) == 0 {
		if r.ended {
			return e, io.EOF
		}
		if err := r.fill(); err != nil {
			return e, err
		}
	}
	found := r.found[0]
	r.found = r.found[1:]
	return r.convert(found)
}

// request requests the next entries by READDIRPLUS. It uses READDIR if the
// server does not support READDIRPLUS.
func (r *directoryReader) request() (*oncrpc.Decoder, error) {
	args := oncrpc.AppendUint64(oncrpc.AppendOpaque(nil, []byte(r.dir.handle)), r.cookie)
	args = append(args, r.verifier...)
	if !r.namesOnly {
		plus := oncrpc.AppendUint32(oncrpc.AppendUint32(args[:len(args):len(args)], directorySize), replySize)
		d, err := r.s.results(procReaddirplus, plus)
		if statusOf(err) != statusNotSupp && !isUnavailable(err) {
			return d, err
		}
		r.namesOnly = true
	}
	return r.s.results(procReaddir, oncrpc.AppendUint32(args, directorySize))
}

// fill reads the next entries of the directory.
func (r *directoryReader) fill() error {
	d, err := r.request()
	if err != nil {
		return err
	}
	decodeOptional(d)
	r.verifier = append(r.verifier[:0], d.Fixed(8)...)
	before, n := r.cookie, 0
	for ; d.Bool(); n++ {
		e := r.decode(d)
		if n == maxBatch {
			d.Fail("more than %d entries in a reply", maxBatch)
		}
		if isFileName(e.name) && d.Err() == nil {
			r.found = append(r.found, e)
		}
	}
	r.ended = d.Bool()
	if err := r.s.check(d); err != nil {
		return err
	}
	if !r.ended && (n == 0 || r.cookie == before) {
		return fetch.Protocol.Errorf("server sent the same part of a directory again")
	}
	return nil
}

func (r *directoryReader) decode(d *oncrpc.Decoder) (e directoryEntry) {
	d.Uint64() // the file id is also in the attributes
	e.name = string(d.Opaque(maxName))
	r.cookie = d.Uint64()
	if r.namesOnly {
		return e
	}
	e.attributes, e.known = decodeOptional(d)
	if d.Bool() {
		e.handle = append(handle{}, d.Opaque(maxHandle)...)
	}
	return e
}

// convert converts an entry of the directory to a fetch.Entry.
func (r *directoryReader) convert(found directoryEntry) (e fetch.Entry, err error) {
	e = fetch.Entry{Name: strings.ToValidUTF8(found.name, "\uFFFD"), Size: -1}
	path := append(r.path[:len(r.path):len(r.path)], found.name)
	if !found.known || found.kind == typeLink {
		if found.node, err = r.followed(found, path, &e); err != nil {
			if isBroken(err) {
				e.Kind = fetch.Info
				return e, nil
			}
			return e, err
		}
	}
	segment := uri.Escape(found.name, uri.Segment)
	e.Time = found.mtime
	switch found.kind {
	case typeDirectory:
		e.Kind, e.Media = fetch.Menu, entries.Media
		segment += "/"
	case typeRegular:
		e.Kind, e.Media, e.Size = fetch.Document, media.ByName(found.name), int64(min(found.size, 1<<63-1))
	default:
		e.Kind, e.Extra = fetch.Info, map[string]string{"type": typeNames[found.kind]}
		return e, nil
	}
	e.URL, err = r.base.WithPath(r.base.Path() + segment)
	return e, err
}

// followed resolves a symbolic link to its target. It also looks up a file
// whose attributes are not in the listing.
func (r *directoryReader) followed(found directoryEntry, path []string, e *fetch.Entry) (node, error) {
	if found.kind == typeLink && found.handle != nil {
		target, err := r.s.readlink(found.handle)
		if err != nil {
			return node{}, err
		}
		e.Extra = map[string]string{"link": strings.ToValidUTF8(target, "\uFFFD")}
	}
	return r.s.resolve(r.root, path)
}

// isBroken reports whether an error concerns only the target of a symbolic
// link, so that the listing can continue.
func isBroken(err error) bool {
	switch fetch.FaultOf(err) {
	case fetch.NotFound, fetch.Denied, fetch.Loop, fetch.BadURL:
		return true
	}
	return false
}

// exportReader returns a function that lists the exported directories.
func exportReader(exports []string, base uri.URI) func() (fetch.Entry, error) {
	return func() (e fetch.Entry, err error) {
		if len(exports) == 0 {
			return e, io.EOF
		}
		dir := exports[0]
		exports = exports[1:]
		e = fetch.Entry{Name: strings.ToValidUTF8(dir, "\uFFFD"), Kind: fetch.Menu, Media: entries.Media, Size: -1}
		e.URL, err = base.WithPath("/" + strings.Trim(uri.Escape(dir, uri.Path), "/") + "/")
		return e, err
	}
}
