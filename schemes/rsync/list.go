package rsync

import (
	"io"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// Flags of an entry of a list.
const (
	sameMode = 1 << 1
	sameName = 1 << 5
	longName = 1 << 6
	sameTime = 1 << 7

	// since version 30
	moreFlags      = 1 << 2
	endWithErrors  = 1 << 12
	hasNanoseconds = 1 << 13
)

// Types in the mode of a file.
const (
	typeMask    = 0o170000
	regularType = 0o100000
	folderType  = 0o040000
	linkType    = 0o120000
)

// maxName is the maximum length of a name in bytes.
const maxName = 4096

// An item is an entry of a list of files.
type item struct {
	name string
	size int64
	time time.Time
	mode uint32
	link string // target of a symbolic link
}

// A list reads the list of files of the server, one entry at a time. Each entry
// contains only the fields that differ from the previous entry.
type list struct {
	s      *stream
	last   item
	failed int32 // flags of errors, at the end
}

// flags reads the flags of the next entry. It returns io.EOF at the end of the
// list.
func (l *list) flags() (flags int32, err error) {
	if l.s.wide {
		if flags, err = l.s.varint(); err != nil || flags != 0 {
			return flags, err
		}
		return 0, l.end(l.s.varint())
	}
	first, err := l.s.byte()
	switch {
	case err != nil:
		return 0, err
	case first == 0 && l.s.version < varVersion:
		return 0, l.end(l.s.int())
	case first == 0:
		return 0, l.end(0, nil)
	case first&moreFlags == 0 || l.s.version < varVersion:
		return int32(first), nil
	}
	second, err := l.s.byte()
	if flags = int32(first) | int32(second)<<8; err == nil && flags == moreFlags|endWithErrors {
		return 0, l.end(l.s.varint())
	}
	return flags, err
}

// end returns io.EOF, or the error for the flags of errors. A server can close the
// connection after the text of an error.
func (l *list) end(failed int32, err error) error {
	switch l.failed = failed | l.s.failed; {
	case err != nil && l.s.text != "":
		return serverError(l.s.text)
	case err != nil:
		return err
	}
	return io.EOF
}

// size reads the size of a file.
func (l *list) size() (int64, error) {
	if l.s.version < varVersion {
		return l.s.long()
	}
	n, err := l.s.varlong(3)
	if err == nil && n < 0 {
		err = fetch.Protocol.Errorf("negative size")
	}
	return n, err
}

// time reads a modification time. It returns the zero time for a year that has
// not four digits.
func (l *list) time() (time.Time, error) {
	if l.s.version < varVersion {
		seconds, err := l.s.int()
		return time.Unix(int64(uint32(seconds)), 0).UTC(), err
	}
	const first, last = -62135596800, 253402300799 // years 1 and 9999
	seconds, err := l.s.varlong(4)
	if err != nil || seconds < first || seconds > last {
		return time.Time{}, err
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// length reads the length of a text.
func (l *list) length() (int32, error) {
	if l.s.version < varVersion {
		return l.s.int()
	}
	return l.s.varint()
}

// next returns the next entry. It returns io.EOF at the end of the list.
func (l *list) next() (item, error) {
	flags, err := l.flags()
	if err != nil {
		return item{}, err
	}
	f := item{time: l.last.time, mode: l.last.mode}
	if f.name, err = l.name(flags); err != nil {
		return item{}, err
	}
	if f.size, err = l.size(); err != nil {
		return item{}, err
	}
	if flags&sameTime == 0 {
		if f.time, err = l.time(); err != nil {
			return item{}, err
		}
	}
	if flags&hasNanoseconds != 0 {
		n, err := l.s.varint()
		if err != nil {
			return item{}, err
		}
		if 0 <= n && n < 1e9 {
			f.time = f.time.Truncate(time.Second).Add(time.Duration(n))
		}
	}
	if flags&sameMode == 0 {
		mode, err := l.s.int()
		if err != nil {
			return item{}, err
		}
		f.mode = uint32(mode)
	}
	if f.mode&typeMask == linkType {
		if f.link, err = l.text("link"); err != nil {
			return item{}, err
		}
	}
	l.last = f
	return f, nil
}

// name reads a name, which may share its beginning with the name before.
func (l *list) name(flags int32) (string, error) {
	prefix := ""
	if flags&sameName != 0 {
		n, err := l.s.byte()
		if err != nil {
			return "", err
		}
		if int(n) > len(l.last.name) {
			return "", fetch.Protocol.Errorf("name with a prefix of %d bytes, but the name before has %d", n, len(l.last.name))
		}
		prefix = l.last.name[:n]
	}
	if flags&longName != 0 {
		rest, err := l.text("name")
		if err == nil && len(prefix)+len(rest) > maxName {
			err = fetch.Protocol.Errorf("name longer than %d bytes", maxName)
		}
		return prefix + rest, err
	}
	n, err := l.s.byte()
	if err != nil {
		return "", err
	}
	rest, err := l.s.take(int(n))
	return prefix + string(rest), err
}

// text reads a text with its length.
func (l *list) text(what string) (string, error) {
	n, err := l.length()
	if err != nil {
		return "", err
	}
	if n < 0 || n > maxName {
		return "", fetch.Protocol.Errorf("%s of %d bytes", what, n)
	}
	b, err := l.s.take(int(n))
	return string(b), err
}

// isName reports whether name is a path segment other than "." and "..".
func isName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00")
}

// entry returns the Entry of an item in the directory at base. A name that would
// lead elsewhere becomes an entry of kind Info.
func (f item) entry(base uri.URI) fetch.Entry {
	e := fetch.Entry{Name: textform.UTF8(f.name), Kind: fetch.Info, Size: -1, Time: f.time, Raw: textform.UTF8(f.name)}
	if !isName(f.name) {
		return e
	}
	name := uri.Escape(f.name, uri.Path)
	switch f.mode & typeMask {
	case regularType:
		e.Kind, e.Media, e.Size = fetch.Document, media.ByName(f.name), f.size
	case folderType:
		e.Kind, e.Media = fetch.Menu, entries.Media
		name += "/"
	case linkType:
		e.Kind, e.Extra = fetch.Unknown, map[string]string{"link": strings.ToValidUTF8(f.link, "\ufffd")}
	default:
		return e
	}
	e.URL = child(base, name)
	if e.URL.IsZero() {
		e.Kind = fetch.Info
	}
	return e
}

// child returns the URL of a name in the directory at base, or zero.
func child(base uri.URI, name string) uri.URI {
	parts := base.Parts() // without the password
	parts.Userinfo, _, _ = base.User()
	parts.HasUserinfo = parts.Userinfo != ""
	parts.Path, parts.Fragment, parts.HasFragment = strings.TrimSuffix(base.Path(), "/")+"/"+name, "", false
	u, err := uri.Build(parts)
	if err != nil {
		return uri.URI{}
	}
	return u
}
