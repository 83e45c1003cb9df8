package prospero

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A locator is what a URL says: a name that only its server understands,
// perhaps a version, and fields that the object must have.
type locator struct {
	name    string
	version string // digits, the first of them not 0; "": any
	fields  []fetch.Field
}

const versionField = "OBJECT-VERSION"

// locate takes a URL apart before anything in it is decoded: "%00" parts a
// version from the name (RFC 1630), ";" fields from both (RFC 1738). "?" is part
// of the name.
func locate(u uri.URI) (l locator, err error) {
	path := u.Path()
	if q, ok := u.Query(); ok {
		path += "?" + q
	}
	path, ok := strings.CutPrefix(path, "/")
	if !ok && path != "" {
		return l, fetch.BadURL.Errorf("path without a name")
	}
	name, fields, _ := strings.Cut(path, ";")
	name, version, ok := strings.Cut(name, "%00")
	if ok {
		if l.version, err = parseVersion(version); err != nil {
			return l, err
		}
	}
	if l.name, err = decode(name); err != nil {
		return l, err
	}
	for field := range strings.SplitSeq(fields, ";") {
		if field == "" {
			continue
		}
		if err := l.add(field); err != nil {
			return l, err
		}
	}
	return l, nil
}

// maxFields bounds the fields of one URL.
const maxFields = 32

func (l *locator) add(field string) error {
	name, value, ok := strings.Cut(field, "=")
	if !ok || name == "" || len(l.fields) == maxFields {
		return fetch.BadURL.Errorf("field that is not NAME=VALUE, or one too many")
	}
	name, err := decode(name)
	if err != nil {
		return err
	}
	if value, err = decode(value); err != nil {
		return err
	}
	if !strings.EqualFold(name, versionField) {
		l.fields = append(l.fields, fetch.Field{Name: name, Value: value})
		return nil
	}
	l.version, err = parseVersion(value)
	return err
}

func parseVersion(s string) (string, error) {
	if s == "" || len(s) > 10 || strings.Trim(s, "0123456789") != "" {
		return "", fetch.BadURL.Errorf("version of an object that is no number")
	}
	return strings.TrimLeft(s, "0"), nil
}

// decode refuses what no request can say.
func decode(s string) (string, error) {
	s, err := uri.Unescape(s)
	if err != nil {
		return "", fetch.BadURL.With(err)
	}
	if strings.ContainsAny(s, "\r\n\x00") {
		return "", fetch.BadURL.Errorf("line break or NUL in the name of an object")
	}
	return s, nil
}

// number is the version as GET-OBJECT-INFO wants it.
func (l locator) number() string {
	if l.version == "" {
		return "0"
	}
	return l.version
}

// parent parts the last name of a path from the directory it is in.
func (l locator) parent() (dir, last string, ok bool) {
	name := strings.TrimRight(l.name, "/")
	i := strings.LastIndexByte(name, '/')
	if i < 0 || i+1 == len(name) {
		return "", "", false
	}
	return name[:max(i, 1)], name[i+1:], true
}

// path writes the path of a URL that locate reads as l. A "/" that would end a
// dot segment, which others take out of a path, is encoded.
func (l locator) path() string {
	segments := strings.Split(l.name, "/")
	slash := "/"
	for i, s := range segments {
		if s == "." || s == ".." {
			slash = "%2F"
		}
		segments[i] = strings.ReplaceAll(uri.Escape(s, uri.Segment), ";", "%3B")
	}
	path := "/" + strings.Join(segments, slash)
	switch {
	case l.version != "":
		path += ";" + versionField + "=" + l.version
	case l.name == "." || l.name == "..":
		path += ";" // no fields, and no dot segment any more
	}
	return path
}
