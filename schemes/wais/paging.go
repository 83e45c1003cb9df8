package wais

import (
	"crypto/sha256"
	"strings"

	"github.com/anyurl/fetch/internal/z3950"
)

// The protocol has no paging. A search returns the best documents up to its
// limit. To retrieve all documents, results repeats the search with larger
// limits.

// maxResults is the largest limit. The limit increases in steps, because a server
// may allocate memory in proportion to it.
const maxResults = 1 << 14

// pages reports whether to repeat a search until it has returned all documents.
func (o Options) pages(q *search) bool { return o.All && q.max == 0 }

// answerSize returns the maximum response size to negotiate for a search.
func (o Options) answerSize(q *search) uint32 {
	if o.pages(q) {
		return answerSize(maxResults)
	}
	return answerSize(q.limit(o.Max))
}

// isNew counts a result and reports whether it was not in an earlier response.
func (h *results) isNew(r z3950.Record) bool {
	h.count++
	if h.seen == nil || len(r.ID) == 0 {
		return true
	}
	id := sha256.Sum256(r.ID)
	_, known := h.seen[id]
	h.seen[id] = struct{}{}
	return !known
}

// another prepares the next search and returns true if the current response
// reached its limit and has more documents than the previous response.
func (h *results) another() bool {
	if h.seen == nil || h.count < h.limit || h.count <= h.previous || h.limit >= maxResults {
		return false
	}
	h.previous, h.count = h.count, 0
	h.limit = min(4*h.limit, maxResults)
	return true
}

// noteLimit adds a note if results may be missing, because the response reached
// its limit or fills the negotiated size. Servers silently drop results that
// exceed the size.
func (h *results) noteLimit() {
	switch {
	case h.count == 0:
	case h.count >= h.limit:
		h.req.Trace.Notef("the search is limited to %d documents and found %d: there may be more (max=N in the URL sets a higher limit)", h.limit, h.count)
	case h.noted == 0 && int(h.lease.Session.size)-h.lease.Session.length < 2*h.lease.Session.length/h.count:
		h.req.Trace.Notef("%d documents fill the answer of at most %d bytes that the server allows: there may be more (narrow the search)", h.count, h.lease.Session.size)
	}
}

// noResult is the beginning of the headline of freeWAIS's pseudo result for a
// search without results. The pseudo result names the catalogue.
const noResult = "Search produced no result."

// isPseudo reports whether a result describes the database. freeWAIS sends
// pseudo results for searches without words or without results. Their ids have
// no server field.
func isPseudo(r z3950.Record) bool {
	headline := strings.TrimSpace(string(r.Headline))
	if r.Score == z3950.Some(0) && strings.HasPrefix(headline, noResult) {
		return true
	}
	id, err := z3950.ParseDocumentID(r.ID)
	if err != nil {
		return false
	}
	for _, p := range id {
		if p.Tag == z3950.OriginalServer || p.Tag == z3950.DistributorServer {
			return false
		}
	}
	for _, prefix := range []string{noResult, "Information on database: ", "Catalog for database: "} {
		if strings.HasPrefix(headline, prefix) {
			return true
		}
	}
	return false
}
