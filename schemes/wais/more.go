package wais

import (
	"crypto/sha256"
	"strings"

	"github.com/anyurl/fetch/schemes/wais/z3950"
)

// The protocol has no pages: a search asks for so many documents and gets the
// best ones. All of them come by the same search with a larger limit.

// maxHits is the largest limit of such a search. The limit rises step by step,
// because a server may allocate memory for as many hits as it is asked for.
const maxHits = 1 << 14

// pages reports whether a search is repeated until it has found all.
func (o Options) pages(q *search) bool { return o.All && q.max == 0 }

// answerSize is the size of answers to agree on for a search.
func (o Options) answerSize(q *search) uint32 {
	if o.pages(q) {
		return answerSize(maxHits)
	}
	return answerSize(q.limit(o.Max))
}

// isNew counts a hit and reports whether no search before had it.
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

// another prepares the next search, where the answer to the last one reached
// its limit and had more than the one before.
func (h *hits) another() bool {
	if h.seen == nil || h.count < h.limit || h.count <= h.previous || h.limit >= maxHits {
		return false
	}
	h.previous, h.count = h.count, 0
	h.limit = min(4*h.limit, maxHits)
	return true
}

// noteLimit says that an answer may lack hits. Servers drop those that do not
// fit into the size that was agreed on, and do not say so.
func (h *hits) noteLimit() {
	switch {
	case h.count == 0 || h.noted > 0:
	case h.count >= h.limit:
		h.req.Trace.Notef("the search asks for %d documents, and %d came: there may be more (--max N, or &max=N behind the words)", h.limit, h.count)
	case int(h.turn.size)-h.turn.length < 2*h.turn.length/h.count:
		h.req.Trace.Notef("%d documents fill the %d bytes that the server allows to an answer: there may be more (more words find fewer)", h.count, h.turn.size)
	}
}

// noResult is how freeWAIS begins the headline of a hit that is none: the
// catalogue, for want of a result.
const noResult = "Search produced no result."

// isPseudo reports whether a hit describes the database and is no result.
// freeWAIS sends such hits where a search has no words or no result, with an id
// that names no server.
func isPseudo(r z3950.Record) bool {
	id, err := z3950.ParseDocumentID(r.ID)
	if err != nil {
		return false
	}
	for _, p := range id {
		if p.Tag == z3950.OriginalServer || p.Tag == z3950.DistributorServer {
			return false
		}
	}
	headline := strings.TrimSpace(string(r.Headline))
	for _, prefix := range []string{noResult, "Information on database: ", "Catalog for database: "} {
		if strings.HasPrefix(headline, prefix) {
			return true
		}
	}
	return false
}
