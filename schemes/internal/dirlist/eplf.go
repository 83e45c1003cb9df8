package dirlist

import (
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// year10000 is the first Unix time that RFC 3339 cannot represent.
const year10000 = 253402300800

// parseEPLF parses the Easily Parsed LIST Format of D. J. Bernstein's
// publicfile. A line contains facts separated by commas, a tab and the name.
//
//	+i8388621.48594,m825718503,r,s280,	djb.html
func parseEPLF(text string) (row, bool) {
	if !strings.HasPrefix(text, "+") {
		return row{}, false
	}
	list, name, ok := strings.Cut(text[1:], "\t")
	if !ok || name == "" {
		return row{}, false
	}
	r := row{Entry: fetch.Entry{Name: name, Size: -1}}
	for fact := range strings.SplitSeq(list, ",") {
		if fact == "" {
			continue
		}
		value := fact[1:]
		switch fact[0] {
		case '/':
			r.Kind = fetch.Menu
		case 'r':
			if r.Kind != fetch.Menu {
				r.Kind = fetch.Document
			}
		case 's':
			if n, err := strconv.ParseInt(value, 10, 64); err == nil && n >= 0 {
				r.Size = n
			}
		case 'm':
			if n, err := strconv.ParseInt(value, 10, 64); err == nil && 0 <= n && n < year10000 {
				r.Time = time.Unix(n, 0).UTC()
			}
		case 'i':
			r.addExtra("unique", value)
		case 'u': // permissions, such as "up644"
			r.addExtra("mode", strings.TrimPrefix(value, "p"))
		}
	}
	return r, true
}
