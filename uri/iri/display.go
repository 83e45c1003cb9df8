package iri

import (
	"strings"

	"github.com/anyurl/fetch/uri"
)

// A Role classifies a [Segment] of a displayed URI, such as its host. It
// determines the style in which the segment is displayed.
type Role uint8

const (
	Plain    Role = iota // every other part
	Userinfo             // includes the "@"; display it dimmed
	Host                 // display it in bold
	Note                 // warning about a misleading part of the URI; itself not part of the URI
)

// String returns the name of the role, such as "host".
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

// Display formats u as one line of text for a user. It joins the text of all
// [Segments]. The result is usually not a valid URI.
func Display(u uri.URI) string {
	var b strings.Builder
	for _, s := range Segments(u) {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Segments formats u for display and splits the text into segments with
// different roles. A terminal can show each role in a different style. No
// segment is empty. Segments shortens or explains misleading parts of u (RFC
// 3986 section 7.6):
//
//   - The user name is cut to 20 bytes, and the password is replaced by "***".
//   - The note " (host: 10.0.0.1)" is added if the user name was cut or the
//     userinfo looks like a host, as in
//     "http://www.example.com&story=news@10.0.0.1/".
//   - If [Unicode] decodes the host, a note with the decoded host is added.
//
// The result is ASCII without control characters, except for the notes and the
// "…" of a shortened user name. Notes may contain letters, combining marks and
// digits of any script. Percent-encodings are not decoded.
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

// Notes returns all notes that [Segments] adds to u as one string. An example
// is " (host: 10.0.0.1)". It returns "" if Segments adds no note.
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

// lenPort returns the length of the port of u, including the ":" before the
// port.
func lenPort(u uri.URI) int {
	port, ok := u.Port()
	if !ok {
		return 0
	}
	return len(port) + 1
}

// maxUserName is the maximum number of bytes of a user name that Display shows.
const maxUserName = 20

// userinfo returns the user name, masked password and "@" of u for display. It
// also reports whether a user could mistake the userinfo for another part of
// the URI.
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
