// Package listing formats the entries of listings as lines of text, in the
// style of ls -lh.
package listing

import (
	"fmt"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/base/tty"
)

// A Format describes the lines of a listing. The field Scheme is required. By
// default, lines have all columns except the media type and the URL, and are
// not cut.
type Format struct {
	Width    int                            // columns of the terminal, or 0 if lines are not cut
	Color    bool                           // if true, names have the colors of Palette
	Palette  Palette                        // colors of names
	Links    bool                           // if true, names are hyperlinks
	Now      time.Time                      // the current time, which selects the format of dates
	Scheme   func(name string) fetch.Scheme // the schemes of entries
	Type     bool                           // if true, lines have a column for the media type
	URL      bool                           // if true, the URL follows on a separate line
	HideSize bool                           // if true, lines have no column for the size
	HideTime bool                           // if true, lines have no column for the time
}

// Line returns the text for an entry: kind, size, time and name. Control
// characters are escaped. An Info entry has only its name. The text has no line
// end. It has two lines if f.URL is set and the entry has a URL.
func (f *Format) Line(e fetch.Entry) string {
	name := tty.Escape(e.Name)
	if e.Kind == fetch.Info {
		return f.cut(name, 0)
	}
	columns := fmt.Sprintf("%-9s ", f.KindName(e))
	if !f.HideSize {
		columns += fmt.Sprintf("%5s  ", Size(e.Size))
	}
	if !f.HideTime {
		columns += fmt.Sprintf("%-12s  ", f.time(e.Time))
	}
	if f.Type {
		media := mediaType(e)
		columns += media + strings.Repeat(" ", max(24-tty.Width(media), 0)+2)
	}
	line := columns + f.name(e, name, tty.Width(columns))
	if f.URL && !e.URL.IsZero() {
		line += "\n" + strings.Repeat(" ", 10) + tty.Escape(e.URL.String())
	}
	return line
}

// mediaType returns the media type of an entry without parameters, or "-". It
// returns "-" for a listing, because most servers send no media type for one.
func mediaType(e fetch.Entry) string {
	name, _, _ := strings.Cut(e.Media, ";")
	if name == "" || e.Kind == fetch.Menu {
		return "-"
	}
	return tty.Escape(name)
}

// name returns the name and the description of an entry. The parameter used is
// the number of terminal columns before the name.
func (f *Format) name(e fetch.Entry, name string, used int) string {
	name = f.cut(name, used)
	used += tty.Width(name)
	if f.Color {
		name = f.Palette.paint(e, name)
	}
	name = f.link(e, name)
	description, _, _ := strings.Cut(e.Extra["description"], "\n")
	if description == "" || f.Width > 0 && f.Width-used < 4 {
		return name
	}
	return name + "  " + f.cut(tty.Escape(description), used+2)
}

// cut cuts text at the right border of the terminal.
func (f *Format) cut(text string, used int) string {
	if f.Width <= 0 {
		return text
	}
	return tty.Cut(text, max(f.Width-used, 1))
}

// listingNames lists the words for entries that are listings.
var listingNames = [...]string{scheme.OtherListing: "menu", scheme.ItemMenu: "menu", scheme.Directory: "directory",
	scheme.Newsgroup: "group", scheme.Mailbox: "mailbox"}

// KindName returns the kind of an entry as text. The text for a listing depends
// on the scheme, such as "directory" or "mailbox".
func (f *Format) KindName(e fetch.Entry) string {
	switch e.Kind {
	case fetch.Menu:
		return listingNames[f.Scheme(e.URL.Scheme()).Traits.Listing]
	case fetch.Index:
		return "search"
	case fetch.Unknown:
		return "-"
	}
	return e.Kind.String()
}

// Size formats a size in bytes as ls -h does, such as "1.5M". The unit is a
// power of 1024, and the number is rounded up. Size returns "-" for a negative
// size.
func Size(n int64) string {
	if n < 0 {
		return "-"
	}
	if n < 1024 {
		return fmt.Sprint(n)
	}
	units := "KMGTPE"
	unit, power := int64(1024), 0
	for power < len(units)-1 && (n-1)/unit >= 1023 { // 1023.1K is 1.0M
		unit *= 1024
		power++
	}
	part := unit / 1024 // prevents an overflow of the product
	fraction := (n%unit + part - 1) / part
	if tenths := (n/unit)*10 + (fraction*10+1023)/1024; tenths < 100 {
		return fmt.Sprintf("%d.%d%c", tenths/10, tenths%10, units[power])
	}
	whole := n / unit
	if n%unit > 0 {
		whole++
	}
	return fmt.Sprintf("%d%c", whole, units[power])
}

// recent is the maximum age of a time that is printed with hours and minutes.
// An older time is printed with its year.
const recent = 182 * 24 * time.Hour

// time formats t in the time zone of f.Now as ls -l does.
func (f *Format) time(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	t = t.In(f.Now.Location())
	if age := f.Now.Sub(t); age > recent || age < -time.Hour {
		return t.Format("Jan _2  2006")
	}
	return t.Format("Jan _2 15:04")
}
