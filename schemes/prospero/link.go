package prospero

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/wire/prospero/message"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// A link is one line of a directory and its attributes, which follow it:
//
//	LINK  L FILE a.txt INTERNET-D H(1525) ASCII AFTP/pub/a.txt 0
//	ATTRIBUTE OBJECT INTRINSIC SIZE SEQUENCE 19' bytes'
type link struct {
	raw        string
	union      bool
	target     string // FILE, DIRECTORY, EXTERNAL, SYMBOLIC, NULL
	label      string
	host, name string
	version    string
	attributes []attribute
	accesses   []access
	contents   bool // the server can send the contents
}

type attribute struct {
	name   string
	tokens []string
}

// linkOf parses a LINK line of a directory. It returns false if a token is
// missing.
func linkOf(l message.Line) (link, bool) {
	if l.Token(0) != "LINK" || len(l.Tokens) < 8 {
		return link{}, false
	}
	return link{
		raw: l.Raw, union: l.Token(1) == "U", target: l.Token(2), label: l.Token(3),
		host: l.Token(5), name: l.Token(7), version: strings.TrimLeft(l.Token(8), "0"),
	}, true
}

// Limits for one link. Known links have about a dozen attributes, of which
// three are access methods.
const (
	maxAttributes = 200
	maxAccesses   = 16
)

// add parses an attribute of a link. Two versions of the protocol are
// supported, and old servers omit the keyword before the value.
func (l *link) add(line message.Line) {
	var name string
	var value []string
	switch {
	case len(l.attributes) == maxAttributes:
		return
	case line.Token(0) == "ATTRIBUTE" && len(line.Tokens) > 4:
		name, value = line.Token(3), line.Tokens[4:]
		if value[0] == "SEQUENCE" || value[0] == "LINK" || value[0] == "FILTER" {
			value = value[1:]
		}
	case line.Token(0) == "LINK-INFO" && len(line.Tokens) > 4:
		name, value = line.Token(2), line.Tokens[4:]
	default:
		return
	}
	l.attributes = append(l.attributes, attribute{name, value})
	if name == "ACCESS-METHOD" && len(value) > 0 && len(l.accesses) < maxAccesses {
		l.contents = l.contents || value[0] == "PROSPERO-CONTENTS"
		l.accesses = append(l.accesses, accessOf(value, *l))
	}
}

// get returns the value of an attribute. Several tokens are joined.
func (l *link) get(name string) (string, bool) {
	i := slices.IndexFunc(l.attributes, func(a attribute) bool { return strings.EqualFold(a.name, name) })
	if i < 0 {
		return "", false
	}
	return strings.Join(l.attributes[i].tokens, " "), true
}

// size parses a size such as "19 bytes". It returns -1 if there is no size.
func (l *link) size() int64 {
	text, _ := l.get("SIZE")
	number, unit, _ := strings.Cut(text, " ")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || unit != "bytes" && unit != "" {
		return -1
	}
	return n
}

// time parses the modification time, such as 20261120130814Z. It returns the
// zero Time if there is none.
func (l *link) time() time.Time {
	text, _ := l.get("LAST-MODIFIED")
	t, err := time.Parse("20060102150405Z", text)
	if err != nil {
		return time.Time{}
	}
	return t
}

// external parses the target of a link to an object outside Prospero:
// "EXTERNAL", or in version 1 "EXTERNAL(AFTP,DIRECTORY)".
func (l *link) external() (method, extra string, ok bool) {
	rest, ok := strings.CutPrefix(l.target, "EXTERNAL")
	method, extra, _ = strings.Cut(strings.Trim(rest, "()"), ",")
	return method, extra, ok
}

func (l *link) isDirectory() bool {
	modes, _ := l.get("UNIX-MODES")
	return strings.Contains(l.target, "DIRECTORY") || strings.HasPrefix(modes, "d")
}

// isDead reports whether a link has no target that fetch can retrieve.
func (l *link) isDead() bool {
	return l.target == "NULL" || strings.HasPrefix(l.target, "SYMBOLIC")
}

// urls returns the URLs of all access methods of a link, the preferred one
// first.
func (l *link) urls(base uri.URI) (all []uri.URI) {
	ways := l.accesses
	if method, extra, ok := l.external(); ok && len(ways) == 0 {
		if method == "" {
			method = "AFTP" // EXTERNAL without a method is known only from archie
		}
		ways = []access{{method, l.host, l.name, extra}}
	}
	ranked := make([][]uri.URI, len(methods))
	for _, a := range ways {
		if u, rank, ok := a.url(base); ok {
			ranked[rank] = append(ranked[rank], u)
		}
	}
	return slices.Concat(ranked...)
}

// url returns the URL of the target of a link.
func (l *link) url(base uri.URI) (u uri.URI, ok bool) {
	if _, _, external := l.external(); external {
		if all := l.urls(base); len(all) > 0 {
			return all[0], true
		}
		return u, false
	}
	if site, path, ok := l.archieSite(); ok {
		return host{name: site}.url("ftp", 21, "/"+escapeFTP(path)+"/")
	}
	h, ok := hostOf(l.host, base)
	if !ok {
		return u, false
	}
	return h.url("prospero", port, locator{name: l.name, version: l.version}.path())
}

// archieSite parses a name such as ARCHIE/HOST/SITE/PATH, which is a directory
// on an ftp site that archie indexes.
func (l *link) archieSite() (site, path string, ok bool) {
	rest, ok := strings.CutPrefix(l.name, "ARCHIE/HOST/")
	if !ok || !l.isDirectory() {
		return "", "", false
	}
	site, path, _ = strings.Cut(rest, "/")
	return strings.ToLower(site), strings.Trim(path, "/"), site != ""
}

// entry converts a link to an entry of a listing.
func (l *link) entry(base uri.URI) fetch.Entry {
	e := fetch.Entry{Name: textform.UTF8(l.label), Kind: fetch.Info, Size: -1, Time: l.time(), Raw: l.raw, Extra: map[string]string{"target": l.target}}
	if l.union {
		e.Extra["union"] = "true"
	}
	for key, name := range map[string]string{"owner": "NATIVE-OWNER", "group": "NATIVE-GROUP", "modes": "UNIX-MODES", "filter": "FILTER"} {
		if v, ok := l.get(name); ok && v != "" {
			e.Extra[key] = v
		}
	}
	var others []string
	u, ok := l.url(base)
	for _, other := range l.urls(base) {
		if other != u {
			others = append(others, other.String())
		}
	}
	if len(others) > 0 {
		e.Extra["access"] = strings.Join(others, " ")
	}
	if !ok || l.isDead() {
		return e
	}
	switch e.URL = u; {
	case l.isDirectory():
		e.Kind = fetch.Menu
	case u.Scheme() == "telnet":
		e.Kind = fetch.Session
	default:
		e.Kind, e.Size, e.Media = fetch.Document, l.size(), media.ByName(l.label)
	}
	return e
}
