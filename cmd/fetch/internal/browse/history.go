package browse

import (
	"github.com/anyurl/fetch/cmd/fetch/internal/page"
	"github.com/anyurl/fetch/fetch"
)

// A visit is a page in the history.
type visit struct {
	req  *fetch.Request // nil for a page that was not requested
	page *page.Page     // nil if the page was removed to limit the memory
}

// A history is the list of visited pages. Its zero value is empty.
type history struct {
	visits []visit
	at     int // index of the current page
}

// maxVisits and maxMemory limit the history. Pages above maxMemory are removed,
// and requested again when they are displayed.
const (
	maxVisits = 500
	maxMemory = 16 << 20 // bytes
)

// current returns the current visit, or nil if the history is empty.
func (h *history) current() *visit {
	if len(h.visits) == 0 {
		return nil
	}
	return &h.visits[h.at]
}

// add adds a visit after the current one and makes it current. It removes the
// visits to which forward would lead.
func (h *history) add(v visit) {
	if len(h.visits) > 0 {
		h.visits = h.visits[:h.at+1]
	}
	if len(h.visits) >= maxVisits {
		h.visits = append([]visit(nil), h.visits[1:]...)
	}
	h.visits = append(h.visits, v)
	h.at = len(h.visits) - 1
	h.trim()
}

// neighbor returns the index of the visit before (-1) or after (1) the current
// one.
func (h *history) neighbor(step int) (int, bool) {
	i := h.at + step
	return i, 0 <= i && i < len(h.visits)
}

// trim removes the pages that are farthest from the current page, until the
// memory is within the limit. It never removes the current page, or a page that
// was not requested.
func (h *history) trim() {
	memory := 0
	for d := range 2 * len(h.visits) { // the current page, its neighbors, their neighbors
		i := h.at + (d+1)/2*(1-2*(d%2))
		if i < 0 || i >= len(h.visits) || h.visits[i].page == nil {
			continue
		}
		v := &h.visits[i]
		n := v.page.Memory()
		if memory+n > maxMemory && i != h.at && v.req != nil {
			v.page = nil
			continue
		}
		memory += n
	}
}
