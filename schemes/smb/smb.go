// Package smb implements the scheme smb: files, directories and shares of SMB
// servers such as Samba and Windows, with the versions 2.0.2 to 3.1.1 of the
// protocol ([MS-SMB2]). SMB 1 is not supported.
//
// Pass the result of [Schemes] to fetch.New. A URL of a directory ends in "/".
// smb://HOST/ lists the shares of a server.
//
// Package github.com/cloudsoda/go-smb2 writes and reads the messages. A guard
// below it checks their lengths, because the library trusts the server. Symbolic
// links and referrals to other servers (DFS) are not followed.
package smb

import (
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/uri"
)

// Schemes returns the scheme smb.
func Schemes() []fetch.Scheme {
	return []fetch.Scheme{{
		Name:   "smb",
		Port:   port,
		Help:   help,
		Ports:  scheme.Ports{Class: scheme.TextPorts},
		Links:  scheme.Links{To: []string{"smb"}, Confined: true, From: []string{"smb"}},
		Traits: scheme.Traits{ReportsSize: true, ListsExactSizes: true, WeakValidators: true, Listing: scheme.Directory, Parents: scheme.Folders},
		Mirror: scheme.Mirroring{Record: scheme.RecordLines, Files: scheme.FileNames{Native: true}},
		Plan:   plan,
		Menu:   entries.Menu,
		Open:   func(env fetch.Env) fetch.Driver { return newDriver(env) },
	}}
}

const port = 445

var _ sessions.Session = (*session)(nil)

// A locator is a parsed URL.
type locator struct {
	share string // "" for the list of shares
	path  string // path in the share with backslashes; "" is its root
	list  bool   // the URL names a directory, or the list of shares
}

// maxPath is the maximum length of a path in bytes.
const maxPath = 4000

// locate parses an smb URL.
func locate(u uri.URI) (l locator, err error) {
	if u.Host() == "" {
		return l, fetch.BadURL.Errorf("smb URL must have a host, such as smb://HOST/SHARE/PATH")
	}
	if _, ok := u.Query(); ok {
		return l, fetch.BadURL.Errorf("smb URL must not have a query: names in shares have no question marks")
	}
	path := strings.TrimPrefix(u.Path(), "/")
	if len(path) > maxPath {
		return l, fetch.BadURL.Errorf("path longer than %d bytes", maxPath)
	}
	path, l.list = strings.CutSuffix(path, "/")
	if path == "" {
		l.list = true
		return l, nil
	}
	var names []string
	for part := range strings.SplitSeq(path, "/") {
		name, err := uri.Unescape(part)
		if err != nil {
			return l, fetch.BadURL.With(err)
		}
		if reason := invalidName(name); reason != "" {
			return l, fetch.BadURL.Errorf("%s in the path of an smb URL", reason)
		}
		names = append(names, name)
	}
	l.share, l.path = names[0], strings.Join(names[1:], `\`)
	if strings.EqualFold(l.share, pipes) {
		return l, fetch.BadURL.Errorf("%s has no files", pipes)
	}
	return l, nil
}

// pipes is the name of the share with the named pipes of a server. Opening a
// pipe starts a conversation with a service.
const pipes = "IPC$"

// maxName is the maximum length of a name in UTF-16 code units.
const maxName = 255

// invalidName returns the reason why a name is not allowed, or "". Servers
// understand a backslash as a separator, a colon as the start of a stream, and
// asterisks as patterns. Windows ignores dots and spaces at the end.
func invalidName(name string) (reason string) {
	switch {
	case name == "":
		return "empty name"
	case name == "." || name == "..":
		return `name "` + name + `"`
	case !utf8.ValidString(name):
		return "name that is not UTF-8"
	case strings.ContainsAny(name, `\/:*?"<>|`):
		return `name with one of the characters \/:*?"<>|`
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return "name with a dot or space at its end"
	case utf16Length(name) > maxName:
		return "name with too many characters"
	}
	for _, c := range name {
		if c < ' ' {
			return "control character"
		}
	}
	return ""
}

func utf16Length(s string) (n int) {
	for _, c := range s {
		n++
		if c >= 0x10000 {
			n++
		}
	}
	return n
}

// name returns the last name of the path.
func (l locator) name() string { return l.path[strings.LastIndexByte(l.path, '\\')+1:] }

// plan returns the SMB commands that the driver sends for req after the login.
func plan(req *fetch.Request) ([]scheme.Step, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	if l.share == "" {
		return []scheme.Step{{Verb: "TREE_CONNECT", Arg: pipes}, {Verb: "IOCTL", Arg: "NetrShareEnum"}}, nil
	}
	steps := []scheme.Step{{Verb: "TREE_CONNECT", Arg: l.share}, {Verb: "CREATE", Arg: l.path}}
	switch {
	case req.Op == fetch.Stat:
	case l.list:
		steps = append(steps, scheme.Step{Verb: "QUERY_DIRECTORY"})
	default:
		steps = append(steps, scheme.Step{Verb: "READ"})
	}
	return steps, nil
}
