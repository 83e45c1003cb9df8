package crawlreport

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// A table counts URLs by a name, such as the host. It stores at most maxNames
// names.
type table struct {
	rows   map[string]*Row
	others Row // sum of the URLs whose names are not stored
}

// maxNames is the maximum number of names in a table, and maxRows is the
// maximum number of rows that a Report contains.
const (
	maxNames = 4096
	maxRows  = 100
)

// add counts one URL with the given name and size. If the table is full, a new
// name is counted in others.
func (t *table) add(name string, size int64) {
	row := t.rows[name]
	switch {
	case row != nil:
	case len(t.rows) >= maxNames:
		row = &t.others
	default:
		if t.rows == nil {
			t.rows = map[string]*Row{}
		}
		name = strings.Clone(name) // it can be a part of a long URL
		row = &Row{Name: name}
		t.rows[name] = row
	}
	row.URLs++
	row.Bytes += size
}

// sorted returns the rows with the most URLs. The URLs of all other rows are
// summed in a last row with the name Others. Rows with the same number of URLs
// are in the order of their names.
func (t *table) sorted() []Row { return values(t.top()) }

// byName returns the same rows as sorted, in the order of their names.
func (t *table) byName() []Row {
	rows := t.top()
	slices.SortFunc(rows, func(a, b *Row) int { return cmp.Compare(a.Name, b.Name) })
	return values(rows)
}

func (t *table) top() []*Row {
	rows := slices.SortedFunc(maps.Values(t.rows), func(a, b *Row) int {
		return cmp.Or(cmp.Compare(b.URLs, a.URLs), cmp.Compare(a.Name, b.Name))
	})
	others := t.others
	if len(rows) > maxRows {
		for _, r := range rows[maxRows:] {
			others.URLs += r.URLs
			others.Bytes += r.Bytes
		}
		rows = rows[:maxRows]
	}
	if others.URLs > 0 {
		others.Name = Others
		rows = append(rows, &others)
	}
	return rows
}

func values[T any](pointers []*T) []T {
	all := make([]T, len(pointers))
	for i, p := range pointers {
		all[i] = *p
	}
	return all
}

// topFiles contains the largest files that were added.
type topFiles []File

// add inserts f if f is one of the maxTop largest files.
func (t *topFiles) add(f File) {
	at, _ := slices.BinarySearchFunc(*t, f, func(a, b File) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.URL, b.URL))
	})
	if at == maxTop {
		return
	}
	*t = slices.Insert(*t, at, f)
	*t = (*t)[:min(len(*t), maxTop)]
}

// maxTop is the maximum length of the lists of the largest files and the
// slowest hosts.
const maxTop = 20

// slowest returns the hosts with the highest mean response times.
func slowest(times map[string]*HostTime) []HostTime {
	for _, h := range times {
		h.Mean = (h.total / time.Duration(h.Requests)).Round(time.Microsecond).Seconds()
	}
	all := slices.SortedFunc(maps.Values(times), func(a, b *HostTime) int {
		return cmp.Or(cmp.Compare(b.Mean, a.Mean), cmp.Compare(a.Host, b.Host))
	})
	return values(all[:min(len(all), maxTop)])
}
