package render

import (
	"html/template"
	"strings"

	"github.com/anyurl/fetch/internal/base/lazy"
)

// scripting matches URL schemes that can execute a script, such as javascript.
var scripting = lazy.Regexp(`^(?i:javascript|vbscript|data)$`)

// validScheme matches the scheme of a URL.
var validScheme = lazy.Regexp(`^[A-Za-z][A-Za-z0-9+.-]*$`)

// attribute returns an HTML attribute such as href, whose value is a URL
// reference. A reference that may contain a script is replaced by
// "#ZgotmplZ", as in html/template. The references in templates need this
// function for two reasons: html/template replaces all references whose scheme
// is not http, https or mailto. It also escapes apostrophes and parentheses, so
// that the link leads to another URL.
func attribute(name, ref string) template.HTMLAttr {
	scheme, _, ok := strings.Cut(ref, ":")
	if ok && !strings.Contains(scheme, "/") && (!validScheme().MatchString(scheme) || scripting().MatchString(scheme)) {
		ref = "#ZgotmplZ"
	}
	return template.HTMLAttr(name + `="` + template.HTMLEscapeString(escapeRef(ref)) + `"`)
}

// escapeRef escapes the bytes that a URL reference must not contain.
func escapeRef(ref string) string {
	const hex = "0123456789abcdef"
	var b strings.Builder
	for i := range len(ref) {
		switch c := ref[i]; {
		case c == '%' && !isEscape(ref[i:]), c <= ' ', c >= 0x7f, strings.IndexByte("\"<>\\^`{|}", c) >= 0:
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// isEscape reports whether text begins with an escape such as "%2F".
func isEscape(text string) bool {
	return len(text) > 2 && strings.Trim(text[1:3], "0123456789abcdefABCDEF") == ""
}
