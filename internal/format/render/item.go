package render

import (
	"cmp"
	"net/mail"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/base/tty"
)

// An item contains the properties of a listing entry that a page can show.
type item struct {
	name, from  string
	description string
	kind        fetch.Kind
	listing     string // how the page names a listing: "menu", "folder", ...
	media       string
	path        string
	inline      string // link to the bytes of an image, or ""
	preview     string // link to the first lines of a text, or ""
	size        int64
	time        time.Time
	score       int64 // -1 if unknown
	articles    int64 // -1 if unknown
	fault       bool
	id          string   // message identifier without angle brackets, or ""
	references  []string // message identifiers of earlier articles, the nearest one last
}

// maxReferences limits the references of an article that determine its thread.
const maxReferences = 20

// item converts an entry of a listing to an item. It escapes all texts except
// message identifiers.
func (v *View) item(e fetch.Entry) item {
	i := item{
		name: tty.Escape(cmp.Or(e.Name, e.URL.String())), from: tty.Escape(author(e.Extra["from"])), kind: e.Kind,
		description: tty.Escape(e.Extra["description"]), size: e.Size, time: e.Time, score: number(e.Extra["score"]), articles: -1,
		fault: e.Extra["fault"] != "", id: strings.Trim(e.Extra["message_id"], "<> "),
	}
	if e.URL.IsZero() {
		i.name, i.kind, i.size = tty.Escape(e.Name), fetch.Info, -1
		return i
	}
	i.media = tty.Escape(media.TrimParameters(e.Media))
	i.path, i.listing = v.Links.Page(e.URL.WithoutUserinfo()), listingNames[v.Schemes(e.URL.Scheme()).Traits.Listing]
	if strings.HasPrefix(i.mediaType(), "image/") && e.Kind != fetch.Menu {
		i.inline = v.Links.Inline(e.URL.WithoutUserinfo())
	}
	if i.hasPreview() && v.Scheme.Traits.Listing == scheme.Directory {
		i.preview = v.Links.Preview(e.URL.WithoutUserinfo())
	}
	if isFolder(i) && !strings.HasSuffix(i.name, "/") {
		i.name += "/"
	}
	if low, high := number(e.Extra["low"]), number(e.Extra["high"]); low >= 0 && high >= 0 {
		i.articles = max(high-low+1, 0)
	}
	all := strings.Fields(cmp.Or(e.Extra["references"], e.Extra["in_reply_to"]))
	for _, id := range all[max(len(all)-maxReferences, 0):] {
		i.references = append(i.references, strings.Trim(id, "<>"))
	}
	return i
}

// listingNames lists the words by which pages name listings.
var listingNames = [...]string{scheme.OtherListing: "listing", scheme.ItemMenu: "menu", scheme.Directory: "folder",
	scheme.Newsgroup: "newsgroup", scheme.Mailbox: "mailbox"}

// number parses a non-negative decimal number. It returns -1 for other texts.
func number(text string) int64 {
	n, err := strconv.ParseUint(text, 10, 62)
	if err != nil {
		return -1
	}
	return int64(n)
}

// author returns the name in the value of a From field. If the value contains
// no name, it returns the address.
func author(from string) string {
	if a, err := mail.ParseAddress(from); err == nil {
		return cmp.Or(a.Name, a.Address)
	}
	name, _, _ := strings.Cut(from, " <")
	return cmp.Or(strings.Trim(name, `" `), from)
}

// Link returns the link to the page of the object that i describes.
func (i item) Link() Link { return Link{Name: i.name, Path: i.path} }

// mark returns the class of the mark before the name, such as "folder".
func (i *item) mark() string {
	switch i.kind {
	case fetch.Menu:
		return "mark " + i.listing
	case fetch.Index:
		return "mark find"
	case fetch.Session:
		return "mark session"
	}
	return "mark"
}

// memory returns the approximate number of bytes that an item occupies.
func (i *item) memory() int {
	n := 300 + len(i.name) + len(i.from) + len(i.description) + len(i.media) + len(i.path) + len(i.inline) + len(i.preview) + len(i.id)
	for _, id := range i.references {
		n += 16 + len(id)
	}
	return n
}

// isFolder reports whether an item is a directory.
func isFolder(i item) bool {
	return i.kind == fetch.Menu && i.listing == listingNames[scheme.Directory]
}

// mediaType returns the media type of a document, from the server or from the
// name.
func (i *item) mediaType() string {
	return cmp.Or(i.media, media.TrimParameters(media.ByName(i.name)))
}

// mediaWords lists the words for media types. The key of a type without a subtype
// ends in "/".
var mediaWords = map[string]string{
	"text/plain": "text", "text/html": "web page", "application/xhtml+xml": "web page", "text/gemini": "gemtext", "message/rfc822": "message",
	"image/": "image", "audio/": "audio", "video/": "video", "font/": "font", "application/pdf": "PDF", "application/zip": "archive",
	"application/gzip": "archive", "application/x-tar": "archive", "application/x-bzip2": "archive", "application/x-xz": "archive",
	"application/zstd": "archive", "application/octet-stream": "file",
}

// mediaWord returns the word for a media type, such as "image", or the type
// itself.
func mediaWord(mediaType string) string {
	top, _, _ := strings.Cut(mediaType, "/")
	return cmp.Or(mediaWords[mediaType], mediaWords[top+"/"], mediaType, "document")
}

// kindName returns the text for the column "Kind", such as "folder" or "image".
func (i *item) kindName() string {
	switch i.kind {
	case fetch.Info:
		return ""
	case fetch.Index:
		return "search"
	case fetch.Menu:
		return i.listing
	case fetch.Document, fetch.Unknown:
		return mediaWord(i.mediaType())
	}
	return i.kind.String()
}

// A column is a column of a listing.
type column struct {
	key, label string
	class      string            // class of the cells, or ""
	descending bool              // the first click on the header sorts in descending order
	shown      func(i item) bool // reports whether the entry has a value; nil if the column is always shown
	cell       func(i item) cell
}

type cell struct {
	Class, Text, Machine string
	Title                string // a longer text, which browsers show on demand, or ""
}

// allColumns lists the columns of listings from left to right.
var allColumns = []column{
	{key: "name", label: "Name"},
	{key: "from", label: "From", shown: func(i item) bool { return i.from != "" },
		cell: func(i item) cell { return cell{Text: i.from} }},
	{label: "Description", shown: func(i item) bool { return i.description != "" },
		cell: func(i item) cell { return cell{Text: i.description} }},
	{key: "kind", label: "Kind", class: "kind", shown: func(i item) bool { return i.kind != fetch.Info && i.media != messageMedia },
		cell: func(i item) cell { return kindCell(i) }},
	{key: "score", label: "Score", class: "number", descending: true, shown: func(i item) bool { return i.score >= 0 },
		cell: func(i item) cell { return cell{Class: "number", Text: formatNumber(i.score)} }},
	{key: "articles", label: "Articles", class: "number", descending: true, shown: func(i item) bool { return i.articles >= 0 },
		cell: func(i item) cell { return cell{Class: "number", Text: formatNumber(i.articles)} }},
	{key: "size", label: "Size", class: "number", descending: true, shown: func(i item) bool { return i.size >= 0 },
		cell: func(i item) cell { return cell{Class: "number", Text: FormatSize(i.size)} }},
	{key: "date", label: "Date", class: "date", descending: true, shown: func(i item) bool { return !i.time.IsZero() },
		cell: func(i item) cell { return dateCell(i.time) }},
}

// kindCell returns the cell of the column "Kind". The media type is a longer text
// for the word.
func kindCell(i item) cell {
	c := cell{Class: "kind", Text: i.kindName()}
	if kind := i.mediaType(); (i.kind == fetch.Document || i.kind == fetch.Unknown) && kind != c.Text {
		c.Title = kind
	}
	return c
}

const messageMedia = "message/rfc822"

func formatNumber(n int64) string {
	if n < 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func dateCell(t time.Time) cell {
	if t.IsZero() {
		return cell{Class: "date"}
	}
	return cell{Class: "date", Text: FormatMinute(t), Machine: t.UTC().Format(time.RFC3339)}
}

// compareBy maps the keys of columns to functions that compare two entries.
var compareBy = map[string]func(a, b item) int{
	"name":     func(a, b item) int { return strings.Compare(strings.ToLower(a.name), strings.ToLower(b.name)) },
	"from":     func(a, b item) int { return strings.Compare(strings.ToLower(a.from), strings.ToLower(b.from)) },
	"kind":     func(a, b item) int { return strings.Compare(a.kindName(), b.kindName()) },
	"score":    func(a, b item) int { return cmp.Compare(a.score, b.score) },
	"articles": func(a, b item) int { return cmp.Compare(a.articles, b.articles) },
	"size":     func(a, b item) int { return cmp.Compare(a.size, b.size) },
	"date":     func(a, b item) int { return a.time.Compare(b.time) },
}

// columnsOf returns the columns in which at least one of items has a value.
func columnsOf(items []item) (shown []column) {
	for _, c := range allColumns {
		for _, i := range items {
			if c.shown != nil && c.shown(i) {
				shown = append(shown, c)
				break
			}
		}
		if c.shown == nil {
			shown = append(shown, c)
		}
	}
	return shown
}

// A header is the header of a column. Path links to the listing sorted by the
// column. Sort is the attribute aria-sort: "ascending", "descending" or "".
type header struct{ Label, Class, Path, Sort string }

// headers returns the column headers of a listing that is sorted by o.
func (l *listing) headers(o Order) (all []header) {
	for _, c := range l.columns {
		h := header{Label: c.label, Class: c.class}
		next := Order{Column: c.key, Descending: c.descending}
		if o.Column == c.key && c.key != "" {
			h.Sort = "ascending"
			if o.Descending {
				h.Sort = "descending"
			}
			next.Descending = !o.Descending
		}
		if c.key != "" {
			h.Path = l.Links.Sorted(next.String(), 1)
		}
		all = append(all, h)
	}
	return all
}

type row struct {
	Name, Path, Class string
	Image, Text       string // links to the bytes of an image, or to the first lines of a text, or ""
	Cells             []cell
	Span              int // number of columns that a text line occupies; 0 for an object
}

// maxPreviews limits the previews of images and texts on a page. A browser that runs no
// scripts can load them before the user opens them.
const maxPreviews = 50

// row returns the table row of an entry.
func (l *listing) row(i item) row {
	if i.kind == fetch.Info {
		r := row{Name: i.name, Path: i.path, Span: len(l.columns), Class: "info"}
		if i.fault {
			r.Class = "problem"
		}
		return r
	}
	r := row{Name: i.name, Path: i.path, Class: i.mark(), Image: i.inline, Text: i.preview}
	if r.Image+r.Text != "" {
		if l.previews++; l.previews > maxPreviews {
			r.Image, r.Text = "", ""
		}
	}
	for _, c := range l.columns[1:] {
		r.Cells = append(r.Cells, c.cell(i))
	}
	return r
}
