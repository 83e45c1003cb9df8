package sftp

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// A listing reads the entries of a directory.
type listing struct {
	session *session
	handle  string
	base    uri.URI
	path    string // path of the directory on the server
	batch   []item
	empty   int // consecutive replies without names
}

// An item is a directory entry in a reply of the server.
type item struct {
	name, long string
	attributes
	followed bool       // the target of the symbolic link was requested
	link     string     // path of the target; empty if unknown or too long
	target   attributes // of the target
	targets  bool       // target is known
}

// maxEmpty is the maximum number of consecutive replies without names.
const maxEmpty = 100

// next returns the next entry. It returns io.EOF after the last one.
func (l *listing) next() (fetch.Entry, error) {
	for {
		for len(l.batch) == 0 {
			if err := l.read(); err != nil {
				return fetch.Entry{}, err
			}
		}
		if f := &l.batch[0]; f.isLink() && !f.followed {
			if err := l.follow(); err != nil {
				return fetch.Entry{}, err
			}
		}
		f := l.batch[0]
		l.batch = l.batch[1:]
		if f.name != "." && f.name != ".." {
			return l.entry(f), nil
		}
	}
}

// read requests the next batch of names of the directory.
func (l *listing) read() error {
	p, err := l.session.call(newRequest(readdir, 0).str(l.handle), "READDIR", "")
	if err != nil {
		return err
	}
	if again := p; p.kind == status && again.u32() == statusEOF {
		if err := l.session.close(l.handle); err != nil {
			return err
		}
		return io.EOF
	}
	if err := p.expect(names); err != nil {
		return err
	}
	for n := p.u32(); n > 0 && p.err == nil; n-- {
		f := item{name: p.str(), long: p.str(), attributes: p.attributes()}
		if p.err == nil {
			l.batch = append(l.batch, f)
		}
	}
	if l.empty++; len(l.batch) > 0 {
		l.empty = 0
	}
	if l.empty > maxEmpty {
		return fetch.Protocol.Errorf("%d replies without names", l.empty)
	}
	return p.err
}

const (
	maxLinks  = 16      // symbolic links that are looked up at once
	maxTarget = 4 << 10 // bytes of the path of a target; a longer path is omitted
)

// follow requests the targets of the next symbolic links in the batch. Only
// these targets are in memory, because a server can send a long target for each
// of thousands of short names.
func (l *listing) follow() error {
	var links []*item
	var all []request
	for i := range l.batch {
		f := &l.batch[i]
		if !f.isLink() || f.followed {
			continue
		}
		if len(links) == maxLinks {
			break
		}
		if f.followed = true; isName(f.name) {
			links = append(links, f)
			path := strings.TrimSuffix(l.path, "/") + "/" + f.name
			all = append(all, newRequest(readlink, 0).str(path), newRequest(stat, 0).str(path))
		}
	}
	if len(links) == 0 {
		return nil
	}
	replies, err := l.session.calls(all, "READLINK", "")
	if err != nil {
		return err
	}
	for i, f := range links {
		if p := replies[2*i]; p.kind == names && p.u32() == 1 {
			if target := p.take(p.u32()); len(target) <= maxTarget {
				f.link = string(target)
			}
		}
		if p := replies[2*i+1]; p.kind == attrsReply {
			f.target = p.attributes()
			f.targets = p.err == nil
		}
	}
	return nil
}

// isName reports whether name is a path segment other than "." and "..".
func isName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00")
}

// entry converts an item to an Entry. A name that would lead to another
// directory becomes an entry of kind Info.
func (l *listing) entry(f item) fetch.Entry {
	e := fetch.Entry{Name: f.name, Kind: fetch.Info, Size: -1, Raw: f.long, Time: f.time()}
	if !utf8.ValidString(f.name) {
		e.Extra = map[string]string{"charset": "iso-8859-1"}
		e.Name = textform.UTF8(f.name)
	}
	if !isName(f.name) {
		return e
	}
	a := f.attributes
	if a.isLink() {
		if e.Extra == nil {
			e.Extra = map[string]string{}
		}
		e.Extra["link"] = strings.ToValidUTF8(f.link, string(utf8.RuneError))
		if a = f.target; f.targets {
			e.Time = a.time()
		}
	}
	path := strings.TrimSuffix(l.base.Path(), "/") + "/" + uri.Escape(f.name, uri.Path)
	switch {
	case a.isLink(), f.isLink() && !f.targets:
		e.Kind = fetch.Unknown
	case a.isDir():
		e.Kind, e.Media = fetch.Menu, entries.Media
		path += "/"
	case a.isRegular():
		e.Kind, e.Media = fetch.Document, media.ByName(f.name)
		if a.has(hasSize) {
			e.Size = a.size
		}
	default:
		if e.Extra == nil {
			e.Extra = map[string]string{}
		}
		e.Extra["type"] = a.typeName()
		return e
	}
	parts := l.base.Parts() // without the password
	parts.Userinfo, _, _ = l.base.User()
	parts.HasUserinfo = parts.Userinfo != ""
	parts.Path, parts.Fragment, parts.HasFragment = path, "", false
	var err error
	if e.URL, err = uri.Build(parts); err != nil {
		e.Kind = fetch.Info
	}
	return e
}
