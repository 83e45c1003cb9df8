package iri

import (
	"strings"

	"github.com/anyurl/fetch/uri"
)

// A Role describes a segment of a displayed URI.
type Role uint8

const (
	Plain    Role = iota
	Userinfo      // includes the "@"; display it dimmed
	Host          // display it in bold
	Note          // not part of the URI: a warning about a misleading part of it
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

// A Segment is a part of a displayed URI.
type Segment struct {
	Text string
	Role Role
}

// Display returns u as one line of text for display: the segments of [Segments]
// without styles. The result is not a valid URI in general.
func Display(u uri.URI) string {
	var b strings.Builder
	for _, s := range Segments(u) {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Segments returns u for display, split into segments that can be styled. No
// segment is empty. Misleading parts of u are shortened or explained (RFC 3986
// section 7.6):
//
//   - The user name is cut to 20 characters, and the password is replaced by
//     "***".
//   - The note " (host: 10.0.0.1)" is added if the userinfo was cut or looks
//     like a host, as in "http://www.example.com&story=news@10.0.0.1/".
//   - For a host "xn--…", a note with its decoded letters is added if [Unicode]
//     decodes the host.
//
// The result is ASCII without control characters, except for the notes and the
// "…" of a shortened user name. Percent-encodings are not decoded. Notes
// contain letters, marks and digits of any script.
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
	add(Notes(u), Note)
	return list
}

// Notes returns the notes that [Segments] adds to u, in parentheses, or "" if
// there are no notes.
func Notes(u uri.URI) string {
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

// lenPort returns the length of the ":" and the port of u.
func lenPort(u uri.URI) int {
	port, ok := u.Port()
	if !ok {
		return 0
	}
	return len(port) + 1
}

// maxUserName is the number of bytes of a user name that are displayed.
const maxUserName = 20

// userinfo returns the userinfo of u for display, including the "@". It also
// reports whether the userinfo could be mistaken for another part of the URI.
func userinfo(u uri.URI) (shown string, misleading bool) {
	info, ok := u.Userinfo()
	if !ok {
		return "", false
	}
	if decoded, err := uri.Unescape(info); err != nil || strings.ContainsAny(decoded, "./?#&") {
		misleading = true
	}
	name, _, hasPassword := u.User()
	if len(name) > maxUserName {
		name, misleading = name[:maxUserName]+"…", true
	}
	if hasPassword {
		name += ":***"
	}
	return name + "@", misleading
}
