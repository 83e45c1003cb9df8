package render

import (
	"html/template"
	"io"
	"strings"

	"github.com/anyurl/fetch/internal/base/tty"
)

type sessionPage struct {
	Page
	URL, Host, Port, User string
	Command               string       // command that opens the session
	Link                  template.URL // link that opens the browser's program for the scheme, or ""
}

// session writes a page that describes an interactive session. The URL of v
// names the session.
func (v *View) session(w io.Writer) error {
	u := v.URL
	p := u.Parts()
	data := sessionPage{Page: v.Page, URL: u.String(), Host: p.Host, Port: p.Port, Command: "fetch " + shellQuote(u.WithoutUserinfo().String())}
	data.User, _, _ = u.User()
	data.User = tty.Escape(data.User)
	if v.Scheme.Traits.Session { // the URL cannot contain a script
		data.Link = template.URL(u.WithoutUserinfo().String())
	}
	return execute(w, "session", data)
}

// shellQuote quotes a URI for a shell.
func shellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", "%27") + "'"
}
