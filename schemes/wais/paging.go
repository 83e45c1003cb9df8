package wais

import (
	"crypto/sha256"
	"strings"

	"github.com/anyurl/fetch/internal/wire/z3950"
)

// WAIS has no paging. A search returns the best documents up to a limit. To
// retrieve all documents, the search is repeated with larger limits.

// maxResults is the largest limit of a search. The limit grows in steps,
// because a server may allocate memory in proportion to the limit.
const maxResults = 1 << 14

// pages reports whether a search is repeated with larger limits until all
// documents are found.
func (o Options) pages(q *search) bool { return o.All && q.max == 0 }

// answerSize returns the message size to negotiate for a search, in bytes.
func (o Options) answerSize(q *search) uint32 {
	if o.pages(q) {
		return answerSize(maxResults)
	}
	return answerSize(q.limit(o.Max))
}

// isNew counts a search result. It reports whether no earlier response
// contained the result.
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

// another prepares a search with a larger limit. It returns false if the last
// response contained fewer documents than its limit, or not more than the
// response before.
func (h *results) another() bool {
	if h.seen == nil || h.count < h.limit || h.count <= h.previous || h.limit >= maxResults {
		return false
	}
	h.previous, h.count = h.count, 0
	h.limit = min(4*h.limit, maxResults)
	return true
}

// noteLimit adds a note if search results may be missing. Servers silently drop
// results that exceed the limit or the negotiated message size.
func (h *results) noteLimit() {
	switch {
	case h.count == 0:
	case h.count >= h.limit:
		h.req.Trace.Notef("the search is limited to %d documents and found %d: there may be more (max=N in the URL sets a higher limit)", h.limit, h.count)
	case h.noted == 0 && int(h.lease.Session.size)-h.lease.Session.length < 2*h.lease.Session.length/h.count:
		h.req.Trace.Notef("%d documents fill the answer of at most %d bytes that the server allows: there may be more (narrow the search)", h.count, h.lease.Session.size)
	}
}

// noResult is the beginning of the headline that freeWAIS returns for a search
// without results.
const noResult = "Search produced no result."

// isPseudo reports whether a search result describes the database itself.
// freeWAIS returns such results for searches without words or without matches.
// Their ids have no server field.
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
