package render

import (
	"context"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// Limits of a page that shows a listing.
const (
	pageRows      = 1000    // maximum number of entries on a page
	maxSorted     = 10_000  // entries of a listing that can be sorted or shown as threads
	maxSortedSize = 8 << 20 // approximate memory of these entries, in bytes
	maxPeeked     = 100     // entries at the start that determine the columns
)

// An Order is a sort order for the entries of a listing. The zero value keeps
// the order of the server.
type Order struct {
	Column     string // "name", "from", "kind", "score", "articles", "size" or "date"
	Descending bool
}

// ParseOrder parses a column argument of [Links.Sorted], such as "-size".
func ParseOrder(text string) (o Order, ok bool) {
	o.Column, o.Descending = strings.CutPrefix(text, "-")
	_, ok = compareBy[o.Column]
	return o, ok || text == ""
}

// String returns o as a column argument of [Links.Sorted], such as "-size".
func (o Order) String() string {
	if o.Descending {
		return "-" + o.Column
	}
	return o.Column
}

// A listing writes the entries of a response as pages.
type listing struct {
	*View
	ctx     context.Context
	w       io.Writer
	next    func() (fetch.Entry, error, bool)
	stop    func()
	peeked  []item // entries that are read and not yet written
	columns []column
	problem string // description of an error of the body, or ""
	notice  string // text before the entries, or ""
	ended   bool   // no more entries can be read
	rest    Rest

	previews int // number of previews on the page
}

func newListing(ctx context.Context, w io.Writer, v *View) *listing {
	l := &listing{View: v, ctx: ctx, w: w}
	l.next, l.stop = iter.Pull2(v.Scheme.Menu(v.URL, v.Response.Media, v.Response.Body))
	return l
}

// listing writes the entries of a menu, a directory or a newsgroup.
func (v *View) listing(ctx context.Context, w io.Writer) (Rest, error) {
	l := newListing(ctx, w, v)
	defer l.stop()
	l.peek(maxPeeked, maxSortedSize)
	l.columns = columnsOf(l.peeked)
	switch {
	case v.Order.Column != "":
		err := l.sorted()
		return l.rest, err
	case hasReferences(l.peeked):
		err := l.threads()
		return l.rest, err
	}
	err := l.table()
	return l.rest, err
}

// peek reads entries ahead until l.peeked contains n entries or size bytes. It
// reports whether it has read the complete listing.
func (l *listing) peek(n, size int) (complete bool) {
	for _, i := range l.peeked {
		size -= i.memory()
	}
	for len(l.peeked) < n && size > 0 {
		i, ok := l.read()
		if !ok {
			return true
		}
		l.peeked = append(l.peeked, i)
		size -= i.memory()
	}
	return l.ended
}

// read reads an entry. It returns false at the end of the listing, and after an
// error.
func (l *listing) read() (i item, ok bool) {
	if l.ended {
		return i, false
	}
	e, err, ok := l.next()
	if ok && err == nil {
		err = l.ctx.Err()
	}
	if err != nil {
		l.problem = "The listing is incomplete. " + l.Problem(err)
	}
	if !ok || err != nil {
		l.ended = true
		return i, false
	}
	return l.item(e), true
}

// take returns the next entry of the listing.
func (l *listing) take() (i item, ok bool) {
	if len(l.peeked) == 0 {
		return l.read()
	}
	i = l.peeked[0]
	l.peeked = l.peeked[1:]
	return i, true
}

// page returns the number of the page to write, from 1.
func (l *listing) page() int { return max(l.Number, 1) }

// skip skips the entries of earlier pages.
func (l *listing) skip() {
	for range (l.page()-1)*pageRows - l.Skipped {
		if _, ok := l.take(); !ok {
			break
		}
		l.rest.Shown++
	}
}

// table writes a page of entries in the order of the server.
func (l *listing) table() error {
	l.skip()
	return l.rows(func() (item, bool) { return l.take() }, Order{})
}

// sorted writes a page of the sorted entries. Lines without an object are
// omitted, because they describe the entries that are adjacent before sorting.
func (l *listing) sorted() error {
	if !l.peek(maxSorted+1, maxSortedSize) {
		l.notice = "The listing is too long to be sorted. It has the order of the server."
		return l.table()
	}
	all := slices.DeleteFunc(l.peeked, func(i item) bool { return i.kind == fetch.Info })
	compare := compareBy[l.Order.Column]
	slices.SortStableFunc(all, func(a, b item) int {
		if l.Order.Descending {
			a, b = b, a
		}
		return compare(a, b)
	})
	all = all[min((l.page()-1)*pageRows, len(all)):]
	return l.rows(func() (i item, ok bool) {
		if len(all) == 0 {
			return i, false
		}
		i, all = all[0], all[1:]
		return i, true
	}, l.Order)
}

type listingPage struct {
	Page
	Notice  string
	Columns []header
	Sorted  string // the order of a sorted listing in words, or ""
	Unsort  string // link to the listing in the order of the server, or ""
	Search  *searchForm
}

type listingEnd struct {
	About          *about
	Rows           int
	Number         int
	Previous, Next string
	Problem        string
}

// rows writes at most pageRows entries as a table.
func (l *listing) rows(next func() (item, bool), o Order) error {
	data := listingPage{Page: l.Page, Notice: l.notice, Search: l.searchForm(), Columns: l.headers(o)}
	if o.Column != "" {
		data.Unsort, data.Sorted = l.Links.Sorted("", 1), l.orderText(o)
	}
	if err := execute(l.w, "listing", data); err != nil {
		return err
	}
	n, entries, more := 0, 0, false
	for i, ok := next(); ok; i, ok = next() {
		if n == pageRows && l.Links.Sorted(o.String(), l.page()+1) != "" {
			more = true
			break
		}
		n++
		if i.kind != fetch.Info {
			entries++
		}
		if err := execute(l.w, "row", l.row(i)); err != nil {
			return err
		}
	}
	return l.finish("endlisting", n, entries, more, o)
}

// orderText returns the order of a sorted listing, such as "Sorted by size,
// descending".
func (l *listing) orderText(o Order) string {
	for _, c := range l.columns {
		if c.key != o.Column {
			continue
		}
		how := "ascending"
		if o.Descending {
			how = "descending"
		}
		return "Sorted by " + strings.ToLower(c.label) + ", " + how
	}
	return ""
}

// finish writes the end of a page with n rows, of which some are entries.
func (l *listing) finish(template string, n, entries int, more bool, o Order) error {
	l.rest.Shown, l.rest.More = l.rest.Shown+n, more
	end := listingEnd{Rows: entries, Number: l.page(), Problem: l.problem}
	if end.Number > 1 {
		end.Previous = l.Links.Sorted(o.String(), end.Number-1)
	}
	if more {
		end.Next = l.Links.Sorted(o.String(), end.Number+1)
	}
	end.About = l.about(!more && l.problem == "")
	return execute(l.w, template, end)
}

// Count returns a text such as "20 entries on page 2".
func (e listingEnd) Count() string {
	unit := " entries"
	if e.Rows == 1 {
		unit = " entry"
	}
	text := strconv.Itoa(e.Rows) + unit
	if e.Number > 1 || e.Next != "" {
		text += " on page " + strconv.Itoa(e.Number)
	}
	return text
}
