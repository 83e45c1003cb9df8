package render

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/internal/base/tty"
)

// A Page contains the data for the frame of a page: the header, the banner and
// the title. Its texts are displayed unchanged.
type Page struct {
	Title      string
	StyleSheet string // reference to the style sheet
	Trail      []Link // the pages above this page, from the first page
	Banner     *Banner
	Crumbs     []Link // breadcrumbs: the listings above the object
}

// A Link is a hyperlink on a page.
type Link struct {
	Name, Path string
	Rel        string // relation, such as "next", or ""
}

// A Banner describes the document that a page shows, such as a capture.
type Banner struct {
	Label string // name of the banner for screen readers, such as "Capture"
	URL   string
	Facts []Fact
	Links []Link
	Above []Link // links to the pages above, which only an inserted banner shows
}

// A Fact is a property of a document, such as the date of a capture.
type Fact struct {
	Name, Value string
	Machine     string // the date in RFC 3339, or "" if Value is no date
}

// SetTitle sets the title. It escapes control characters.
func (p *Page) SetTitle(title string) { p.Title = tty.Escape(title) }

//go:embed page
var files embed.FS

// templates contains the templates of this package. They cannot be cloned after
// their first use. It is no sync.OnceValue, because the initialization of such a
// variable would link package html/template into programs that write no pages.
var templates pageTemplates

type pageTemplates struct {
	once   sync.Once
	parsed *template.Template
}

func (p *pageTemplates) get() *template.Template {
	p.once.Do(func() { p.parsed = parse() })
	return p.parsed
}

func parse() *template.Template {
	return template.Must(template.New("").Funcs(functions()).ParseFS(files, "page/*.html"))
}

// functions returns the functions that templates can call.
func functions() template.FuncMap {
	return template.FuncMap{"date": FormatDate, "size": FormatSize, "count": countText, "text": tty.Escape, "attr": attribute, "nobr": noBreaks}
}

// Templates returns the templates of this package, and the templates in the
// files of fsys that match pattern. A page begins with the template "top" and
// ends with the template "bottom".
func Templates(fsys fs.FS, pattern string) (*template.Template, error) {
	return parse().ParseFS(fsys, pattern)
}

// StyleSheet returns the style sheet of all pages.
func StyleSheet() []byte {
	text, err := files.ReadFile("page/style.css")
	if err != nil { // not possible, because the file is embedded
		return nil
	}
	return text
}

// Insert writes b as HTML that the caller can insert after the <body> tag of the
// page of a server. It is a bar at the top of the window, which the user can
// collapse. The page begins below the bar. The HTML is well-formed XML.
func (b *Banner) Insert(w io.Writer) error { return execute(w, "inserted", b) }

func execute(w io.Writer, name string, data any) error {
	return templates.get().ExecuteTemplate(w, name, data)
}

// FormatDate formats t as "2006-01-02 15:04:05 UTC", for people. The result is
// "" for the zero time.
func FormatDate(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// FormatMinute formats t as "2006-01-02 15:04" in UTC, for people. The result
// is "" for the zero time.
func FormatMinute(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// FormatSize formats a number of bytes for people, such as "1.5 KiB". The
// result is "" if the number is negative.
func FormatSize(n int64) string {
	switch {
	case n < 0:
		return ""
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// FormatCount formats a number with commas between thousands.
func FormatCount(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// countText is FormatCount for templates. It accepts an int or int64.
func countText(n any) (string, error) {
	switch n := n.(type) {
	case int:
		return FormatCount(int64(n)), nil
	case int64:
		return FormatCount(n), nil
	}
	return "", fmt.Errorf("%T is no number", n)
}

func write(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}

// noBreaks returns text as HTML whose lines break only at spaces. Browsers also
// break lines after the hyphens of a date.
func noBreaks(text string) template.HTML {
	var b strings.Builder
	for i, word := range strings.Fields(text) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(`<span class="nobr">` + template.HTMLEscapeString(word) + `</span>`)
	}
	return template.HTML(b.String())
}
