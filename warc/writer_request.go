package warc

import (
	"bytes"
	"io"
	"slices"
)

// requestsOf returns the requests in a group with another method than GET, by their
// position in the group. The result is nil if there is none.
func requestsOf(group []*Record) (all map[int]requestSummary, err error) {
	for i, r := range group {
		if r.Type != Request || !isHTTP(r.Media) {
			continue
		}
		summary, err := r.summary()
		if err != nil {
			return nil, err
		}
		if summary.hasOwnKey() {
			if all == nil {
				all = map[int]requestSummary{}
			}
			all[i] = summary
		}
	}
	return all, nil
}

// addRequests adds requests of a group to the index lines of their responses, as
// [Lines] does when it reads the records.
func addRequests(group []*Record, positions []Position, requests map[int]requestSummary) {
	for i, summary := range requests {
		for j, r := range group {
			if (r.Type == Response || r.Type == Revisit) && positions[j].Line.Key != "" && areLinked(group, i, j) {
				positions[j].Line.addRequest(&summary)
			}
		}
	}
}

// areLinked reports whether the records i and j of a group belong to the same
// exchange.
func areLinked(group []*Record, i, j int) bool {
	names := func(i, j int) bool {
		return slices.Contains(concurrentTo(group, i), group[j]) ||
			slices.ContainsFunc(group[i].Fields.Values("WARC-Concurrent-To"), func(id string) bool { return trimBrackets(id) == group[j].ID })
	}
	return targetURI(group[i].URL) == targetURI(group[j].URL) && (names(i, j) || names(j, i))
}

// summary reads the block of a request record, and restores its position. The
// result is empty for a GET request, and for a block that cannot be read twice.
func (r *Record) summary() (s requestSummary, err error) {
	block, ok := r.Body.(io.ReadSeeker)
	if !ok {
		return s, nil
	}
	start, err := block.Seek(0, io.SeekCurrent)
	if err != nil {
		return s, err
	}
	const get = "GET "
	method := make([]byte, len(get))
	n, err := io.ReadFull(block, method)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = nil
	}
	if err == nil && string(method) != get {
		s, err = readRequest(io.MultiReader(bytes.NewReader(method[:n]), block))
	}
	if err == nil {
		_, err = block.Seek(start, io.SeekStart)
	}
	return s, err
}
