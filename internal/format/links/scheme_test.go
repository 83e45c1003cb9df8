package links

import "github.com/anyurl/fetch/fetch"

// SchemeNamed is schemeNamed for tests in another package.
var SchemeNamed = schemeNamed

// schemeNamed returns a scheme with the properties that affect links.
func schemeNamed(name string) fetch.Scheme {
	s := fetch.Scheme{Name: name}
	switch name {
	case "http", "https", "ftp":
		s.Port, s.Traits.Web, s.Traits.Backslash = 80, name != "ftp", true
	case "gopher", "gemini", "wais":
		s.Port = 70
	case "file":
		s.Traits.Backslash = true
	case "data":
		s.Traits.Embedded = true
	}
	return s
}
