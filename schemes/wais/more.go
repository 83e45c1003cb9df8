package wais

import (
	"crypto/sha256"
	"strings"

	"github.com/anyurl/fetch/internal/z3950"
)

// The protocol has no paging. A search returns the best documents up to its
// limit. To fetch all documents, hits repeats the search with larger limits.

// maxHits is the largest limit. The limit increases in steps, because a server
// may allocate memory in proportion to it.
const maxHits = 1 << 14

// pages reports whether to repeat a search until it has returned all documents.
func (o Options) pages(q *search) bool { return o.All && q.max == 0 }

// answerSize returns the maximum answer size to negotiate for a search.
func (o Options) answerSize(q *search) uint32 {
	if o.pages(q) {
		return answerSize(maxHits)
	}
	return answerSize(q.limit(o.Max))
}

// isNew counts a hit and reports whether it was not in an earlier answer.
func (h *hits) isNew(r z3950.Record) bool {
	h.count++
	if h.seen == nil || len(r.ID) == 0 {
		return true
	}
	id := sha256.Sum256(r.ID)
	_, known := h.seen[id]
	h.seen[id] = struct{}{}
	return !known
}

// another sets up the next search and returns true, if the current answer
// reached its limit and has more documents than the previous answer.
func (h *hits) another() bool {
	if h.seen == nil || h.count < h.limit || h.count <= h.previous || h.limit >= maxHits {
		return false
	}
	h.previous, h.count = h.count, 0
	h.limit = min(4*h.limit, maxHits)
	return true
}

// noteLimit adds a note if hits may be missing: the answer reached its limit, or
// it fills the negotiated size. Servers drop hits that exceed the size silently.
func (h *hits) noteLimit() {
	switch {
	case h.count == 0:
	case h.count >= h.limit:
		h.req.Trace.Notef("the search is limited to %d documents and found %d: there may be more (max=N in the URL sets a higher limit)", h.limit, h.count)
	case h.noted == 0 && int(h.lease.Session.size)-h.lease.Session.length < 2*h.lease.Session.length/h.count:
		h.req.Trace.Notef("%d documents fill the answer of at most %d bytes that the server allows: there may be more (narrow the search)", h.count, h.lease.Session.size)
	}
}

// noResult is the start of the headline of freeWAIS's pseudo hit for a search
// without results. The hit leads to the catalogue.
const noResult = "Search produced no result."

// isPseudo reports whether a hit describes the database instead of a result.
// freeWAIS sends such hits for searches without words or without results. Their
// ids have no server field.
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
