package askform

import (
	"strings"

	"github.com/anyurl/fetch/uri"
)

// Attributes returns the URL from which the attributes of the item at u are
// fetched, including its form. The URL u must end with the command "?", which
// marks an item with a form. Otherwise ok is false.
func Attributes(u uri.URI) (attributes uri.URI, ok bool) {
	item, ok := itemPath(u)
	if !ok {
		return attributes, false
	}
	attributes, err := u.WithoutFragment().WithoutQuery().WithPath(item + "%09%09!")
	return attributes, err == nil
}

// itemPath returns the path of u without the final command "?". The result ok is
// false if u is not a gopher URL with this command.
func itemPath(u uri.URI) (path string, ok bool) {
	scheme := u.Scheme()
	path = u.Path()
	if question, has := u.Query(); has {
		path += "?" + question
	}
	for _, command := range []string{"%09%09?", "%09%09%3F", "%09%09%3f"} {
		if item, found := strings.CutSuffix(path, command); found && len(item) > 1 {
			return item, scheme == "gopher" || scheme == "gophers"
		}
	}
	return "", false
}

// URL returns the URL that sends the form data f to the item at u. The URL u
// must end with the command "?", as in [Attributes].
func (f *Data) URL(u uri.URI) (filled uri.URI, ok bool) {
	item, ok := itemPath(u)
	if !ok {
		return filled, false
	}
	path := uri.AppendEscape([]byte(item), "\t\t+\t1\r\n"+string(f.Encode(false)), uri.Path)
	filled, err := u.WithoutFragment().WithoutQuery().WithPath(string(path))
	return filled, err == nil
}
