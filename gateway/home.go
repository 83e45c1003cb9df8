package gateway

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/format/render"
)

// homePage is the template data of the first page.
type homePage struct {
	page
	Archives []archiveCard
	Form     *openForm
	Examples []render.Link
	Personal bool
	Base     string      // path prefix of all pages
	Search   *homeSearch // form for a search in texts, or nil
}

// An archiveCard describes an archive on the first page.
type archiveCard struct {
	archiveLink
	Facts []string // such as "1,200 captures", or nil if the archive was not counted
}

// home sends the first page. The text is the initial value of the form for a
// URL.
func (x *exchange) home(text string) {
	data := homePage{page: x.newPage("fetch", nil), Search: x.newHomeSearch(), Base: x.base}
	data.Trail = nil
	if x.gate != nil {
		data.Form, data.Personal, data.Examples = x.newOpenForm(tty.Escape(text)), x.isPersonal(), x.examples()
	}
	ctx, cancel := context.WithTimeout(x.r.Context(), cardTime)
	defer cancel()
	for _, c := range x.archives {
		data.Archives = append(data.Archives, archiveCard{archiveLink{tty.Escape(c.Name), c.path}, c.cardFacts(ctx)})
	}
	x.render("home", data)
}

// cardTime limits the time for counting archives that the first page shows.
const cardTime = time.Second

// cardFacts describes an archive in a few words. The first page has no time to
// count a large archive. It shows the facts of such an archive after the
// overview page has counted it.
func (c *collection) cardFacts(ctx context.Context) []string {
	if c.large.Load() && c.statistics.value.Load() == nil {
		return nil
	}
	s, err := c.count(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		c.large.Store(true)
	}
	if err != nil {
		return nil
	}
	facts := []string{render.FormatCount(s.captures) + " captures", render.FormatSize(s.bytes)}
	if !s.first.IsZero() {
		first, last := s.first.Format(time.DateOnly), s.last.Format(time.DateOnly)
		if first != last {
			first += " to " + last
		}
		facts = append(facts, first)
	}
	var schemes []string
	for _, row := range s.Schemes[:min(len(s.Schemes), maxCardSchemes)] {
		schemes = append(schemes, tty.Escape(row.Name))
	}
	return append(facts, strings.Join(schemes, ", "))
}

// maxCardSchemes is the maximum number of schemes that a card names.
const maxCardSchemes = 8

// exampleURLs are public URLs that the first page offers, one for each scheme.
var exampleURLs = [...]string{
	"gopher://gopher.floodgap.com/", "gemini://geminiprotocol.net/", "ftp://ftp.gnu.org/gnu/",
	"nntp://news.gmane.io/gmane.comp.lang.go.general", "dict://dict.org/d:gopher", "https://www.rfc-editor.org/rfc/rfc1738",
}

// examples returns links to example URLs whose schemes this server shows. The
// links have no signature, so the policy treats them like links of a public
// page.
func (x *exchange) examples() (list []render.Link) {
	for _, text := range exampleURLs {
		scheme, _, _ := strings.Cut(text, ":")
		if _, ok := x.schemes[scheme]; ok && (x.gate.schemes == nil || x.gate.schemes[scheme]) {
			list = append(list, render.Link{Name: text, Path: x.base + "/live/" + text})
		}
	}
	return list
}
