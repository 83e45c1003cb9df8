package render

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// maxIndent is the maximum depth at which replies are indented.
const maxIndent = 12

// maxTried limits the references of an article that are tested for a cycle,
// because each test walks up the thread to its first article.
const maxTried = 3

// hasReferences reports whether entries are articles that refer to each other.
func hasReferences(items []item) bool {
	for _, i := range items {
		if i.id != "" && len(i.references) > 0 {
			return true
		}
	}
	return false
}

type threadsPage struct {
	Page
	Notice string
	Orders []Link // links to the listing in other orders
	Search *searchForm
}

type articleRow struct {
	Name, Path, By string
	Date           *cell
}

// threads writes the articles of a newsgroup as threads. If the group has more
// than maxSorted articles, each page has the threads of its own articles.
func (l *listing) threads() error {
	all, more := l.threadItems()
	data := threadsPage{Page: l.Page, Notice: l.notice, Search: l.searchForm()}
	for _, o := range []struct{ name, column string }{{"subject", "name"}, {"author", "from"}, {"date", "-date"}, {"size", "-size"}} {
		if path := l.Links.Sorted(o.column, 1); path != "" {
			data.Orders = append(data.Orders, Link{Name: o.name, Path: path})
		}
	}
	if err := execute(l.w, "threads", data); err != nil {
		return err
	}
	t := newThreads(all)
	depth := 0 // depth of the previous article
	for n, at := range t.order {
		d := min(at.depth, maxIndent)
		text := ""
		switch {
		case n == 0:
		case d > depth:
			text = "\n<ul>\n"
		default:
			text = "</li>\n" + strings.Repeat("</ul></li>\n", depth-d)
		}
		depth = d
		if err := write(l.w, text+"<li>"); err != nil {
			return err
		}
		if err := execute(l.w, "article-row", t.row(at)); err != nil {
			return err
		}
	}
	if len(t.order) > 0 {
		if err := write(l.w, "</li>\n"+strings.Repeat("</ul></li>\n", depth)); err != nil {
			return err
		}
	}
	return l.finish("endthreads", len(all), len(all), more, Order{})
}

// threadItems returns the articles of the page. All articles of a group with at
// most maxSorted articles are on one page.
func (l *listing) threadItems() (all []item, more bool) {
	if l.peek(maxSorted+1, maxSortedSize) && l.Skipped == 0 {
		return l.peeked, false
	}
	l.notice = "The group is long. Each page has the threads of its own articles."
	l.skip()
	for len(all) < pageRows {
		i, ok := l.take()
		if !ok {
			return all, false
		}
		all = append(all, i)
	}
	_, more = l.take()
	return all, more
}

// threads contains articles in the order in which the page shows them.
type threads struct {
	items []item
	order []position
}

// A position contains the index of an article in items, the index of the
// article to which it replies, and its depth in the thread.
type position struct{ item, parent, depth int } // parent is -1 for the first article

// newThreads orders articles, so that each article follows the article to which
// it replies. Threads and replies keep the order of items.
func newThreads(items []item) *threads {
	byID := make(map[string]int, len(items))
	for n, i := range items {
		if _, ok := byID[i.id]; !ok && i.id != "" {
			byID[i.id] = n
		}
	}
	parents := make([]int, len(items))
	for n := range parents {
		parents[n] = -1
	}
	children := make([][]int, len(items))
	var roots []int
	for n, i := range items {
		tried := 0
		for k := len(i.references) - 1; k >= 0 && parents[n] < 0 && tried < maxTried; k-- {
			if p, ok := byID[i.references[k]]; ok {
				tried++
				if !isAncestor(parents, n, p) {
					parents[n] = p
				}
			}
		}
		if p := parents[n]; p >= 0 {
			children[p] = append(children[p], n)
		} else {
			roots = append(roots, n)
		}
	}
	t := &threads{items: items}
	var stack []position
	push := func(all []int, parent, depth int) {
		for k := len(all) - 1; k >= 0; k-- {
			stack = append(stack, position{all[k], parent, depth})
		}
	}
	push(roots, -1, 0)
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		t.order = append(t.order, at)
		push(children[at.item], at.item, at.depth+1)
	}
	return t
}

// isAncestor reports whether article n is article p or an ancestor of p.
func isAncestor(parents []int, n, p int) bool {
	for ; p >= 0; p = parents[p] {
		if p == n {
			return true
		}
	}
	return false
}

// row returns the row of an article. A reply with the same subject as its
// parent shows the author in place of the subject.
func (t *threads) row(at position) articleRow {
	i := t.items[at.item]
	r := articleRow{Name: i.name, Path: i.path, By: i.from}
	if at.parent >= 0 && i.from != "" && bareSubject(i.name) == bareSubject(t.items[at.parent].name) {
		r.Name, r.By = i.from, ""
	}
	if !i.time.IsZero() {
		c := dateCell(i.time)
		r.Date = &c
	}
	if i.kind == fetch.Info {
		r.By, r.Date = "", nil
	}
	return r
}

// bareSubject returns a subject in lower case and without "Re:".
func bareSubject(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	for {
		rest, ok := strings.CutPrefix(text, "re:")
		if !ok {
			return text
		}
		text = strings.TrimSpace(rest)
	}
}
