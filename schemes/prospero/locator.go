package prospero

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A locator holds the parts of a prospero URL: the name of an object, an
// optional version, and fields with required attributes.
type locator struct {
	name    string
	version string // digits without a leading 0; "": any version
	fields  []fetch.Field
}

const versionField = "OBJECT-VERSION"

// locate parses a prospero URL. It splits the path before it decodes the parts:
// "%00" precedes a version (RFC 1630), and ";" precedes a field (RFC 1738). A
// "?" is part of the name.
func locate(u uri.URI) (l locator, err error) {
	path := u.Path()
	if q, ok := u.Query(); ok {
		path += "?" + q
	}
	path, ok := strings.CutPrefix(path, "/")
	if !ok && path != "" {
		return l, fetch.BadURL.Errorf("the path has no name")
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

// maxFields is the maximum number of fields of a URL.
const maxFields = 32

func (l *locator) add(field string) error {
	name, value, ok := strings.Cut(field, "=")
	if !ok || name == "" || len(l.fields) == maxFields {
		return fetch.BadURL.Errorf("invalid field or too many fields: want NAME=VALUE")
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
		return "", fetch.BadURL.Errorf("invalid version of the object: want a number")
	}
	return strings.TrimLeft(s, "0"), nil
}

// decode decodes percent-encoding. It returns an error for characters that
// would end a request line.
func decode(s string) (string, error) {
	s, err := uri.Unescape(s)
	if err != nil {
		return "", fetch.BadURL.With(err)
	}
	if strings.ContainsAny(s, "\r\n\x00") {
		return "", fetch.BadURL.Errorf("the name of the object contains a line break or NUL")
	}
	return s, nil
}

// number returns the version of the object for a GET-OBJECT-INFO request. The
// value "0" means any version.
func (l locator) number() string {
	if l.version == "" {
		return "0"
	}
	return l.version
}

// parent splits a name into its directory and its last component.
func (l locator) parent() (dir, last string, ok bool) {
	name := strings.TrimRight(l.name, "/")
	i := strings.LastIndexByte(name, '/')
	if i < 0 || i+1 == len(name) {
		return "", "", false
	}
	return name[:max(i, 1)], name[i+1:], true
}

// path returns the URL path of an object. It escapes slashes next to "." and
// "..", because other software would remove these segments.
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
		path += ";" // an empty field list, so that the path does not end in a dot segment
	}
	return path
}
