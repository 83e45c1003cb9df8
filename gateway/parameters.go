package gateway

import (
	"strconv"
	"strings"

	"github.com/anyurl/fetch/internal/base/lazy"
	"github.com/anyurl/fetch/internal/format/render"
)

// parameters are the parameters of a path segment, such as ";sort=-size;page=2".
type parameters struct {
	part  string       // number of the part of a message, or ""
	order render.Order // order of a listing
	page  int          // number of the page of a listing, from 2; 0 means the first page
	first bool         // only the first lines of a text, as a preview
	key   string       // token of a link in an archived page, or ""
}

// maxPartNumber is the maximum length of a part number such as "1.2", in bytes.
const maxPartNumber = 40

var partNumber = lazy.Regexp(`^[0-9]+(\.[0-9]+)*$`)

// parseParameters parses the parameters of a path segment. The text is empty or
// begins with ";".
func parseParameters(text string) (p parameters, ok bool) {
	if text == "" {
		return p, true
	}
	for parameter := range strings.SplitSeq(text[1:], ";") {
		name, value, _ := strings.Cut(parameter, "=")
		switch name {
		case "part":
			p.part, ok = value, partNumber().MatchString(value) && len(value) <= maxPartNumber
		case "preview":
			p.first, ok = true, value == ""
		case "key":
			p.key, ok = value, signature().MatchString(value)
		case "sort":
			p.order, ok = render.ParseOrder(value)
		case "page":
			n, err := strconv.ParseUint(value, 10, 24)
			if p.page, ok = int(n), err == nil && n > 0; n == 1 {
				p.page = 0
			}
		default:
			ok = false
		}
		if !ok {
			return p, false
		}
	}
	return p, true
}

// sortParameters returns the parameters that select the order and the page of a
// listing.
func sortParameters(column string, page int) string {
	text := ""
	if column != "" {
		text += ";sort=" + column
	}
	if page > 1 {
		text += ";page=" + strconv.Itoa(page)
	}
	return text
}
