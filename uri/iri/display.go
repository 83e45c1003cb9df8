package iri

import (
	"strings"

	"github.com/anyurl/fetch/uri"
)

// A Role says what a segment of a shown URI is.
type Role uint8

const (
	Plain    Role = iota
	Userinfo      // with its "@": to be dimmed
	Host          // to be made bold
	Note          // no part of the URI: what a reader might overlook in it
)

func (r Role) String() string {
	switch r {
	case Plain:
		return "plain"
	case Userinfo:
		return "userinfo"
	case Host:
		return "host"
	case Note:
		return "note"
	}
	return "unknown"
}

// A Segment is a piece of a shown URI.
type Segment struct {
	Text string
	Role Role
}

// Display returns u as one line for a person: what [Segments] has, without styles.
// It is no URI any more.
func Display(u uri.URI) string {
	var b strings.Builder
	for _, s := range Segments(u) {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Segments returns u for a person, in pieces that can be styled, none of them empty.
// It makes plain whom u names, where that can be misread (RFC 3986 section 7.6):
//
//   - the userinfo is cut to 20 characters, and "***" stands for its password;
//   - " (host: 10.0.0.1)" is added if the userinfo was cut or could be taken for a
//     host, as in "http://www.example.com&story=news@10.0.0.1/";
//   - a host "xn--…" stays and its letters are added as a note, if [Unicode] has
//     them.
//
// All but the "…" of a cut and the notes is ASCII without control characters: what
// is percent-encoded stays so. Notes hold letters, marks and digits of any script.
func Segments(u uri.URI) []Segment {
	var list []Segment
	add := func(text string, role Role) {
		if text != "" {
			list = append(list, Segment{text, role})
		}
	}
	p := u.Parts()
	front := ""
	if p.Scheme != "" {
		front = p.Scheme + ":"
	}
	if p.HasAuthority {
		front += "//"
	}
	add(front, Plain)
	info, _ := userinfo(u)
	add(info, Userinfo)
	add(p.Host, Host)
	authority, _ := u.Authority()
	add(u.Unredacted()[len(front)+len(authority)-lenPort(u):], Plain)
	add(Overlooked(u), Note)
	return list
}

// Overlooked returns what a reader might overlook in u, as the note that
// [Segments] adds, or "".
func Overlooked(u uri.URI) string {
	var notes []string
	host := u.Host()
	if _, misleading := userinfo(u); misleading {
		notes = append(notes, "host: "+host)
	}
	if name := Unicode(host); name != host {
		notes = append(notes, name)
	}
	if len(notes) == 0 {
		return ""
	}
	return " (" + strings.Join(notes, ", ") + ")"
}

// lenPort is the length of ":" and the port of u.
func lenPort(u uri.URI) int {
	port, ok := u.Port()
	if !ok {
		return 0
	}
	return len(port) + 1
}

// maxShown is how many characters of a userinfo are shown.
const maxShown = 20

// userinfo returns that of u as it is shown, with its "@", and whether it may be
// taken for something else.
func userinfo(u uri.URI) (shown string, misleading bool) {
	info, ok := u.Userinfo()
	if !ok {
		return "", false
	}
	if decoded, err := uri.Unescape(info); err != nil || strings.ContainsAny(decoded, "./?#&") {
		misleading = true
	}
	name, _, hasPassword := u.User()
	if len(name) > maxShown {
		name, misleading = name[:maxShown]+"…", true
	}
	if hasPassword {
		name += ":***"
	}
	return name + "@", misleading
}
