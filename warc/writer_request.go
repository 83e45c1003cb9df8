package warc

import (
	"bytes"
	"io"
	"slices"
)

// addRequests adds the requests in a group to the index lines of their responses,
// as [Lines] does when it reads the records.
func addRequests(group []*Record, positions []Position) error {
	for i, request := range group {
		if request.Type != Request || !isHTTP(request.Media) {
			continue
		}
		for j, r := range group {
			if r.Type != Response && r.Type != Revisit || positions[j].Line.Key == "" || !areLinked(group, i, j) {
				continue
			}
			summary, err := request.summary()
			if err != nil {
				return err
			}
			if summary.hasOwnKey() {
				positions[j].Line.addRequest(&summary)
			}
		}
	}
	return nil
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

// summary reads the block of a request record again, which Write has read. The
// result is empty for a GET request, and for a block that cannot be read twice.
func (r *Record) summary() (s requestSummary, err error) {
	block, ok := r.Body.(io.ReadSeeker)
	if !ok {
		return s, nil
	}
	if _, err := block.Seek(-r.Size, io.SeekCurrent); err != nil {
		return s, err
	}
	const get = "GET "
	start := make([]byte, min(int64(len(get)), r.Size))
	if _, err := io.ReadFull(block, start); err != nil || string(start) == get {
		return s, err
	}
	return readRequest(io.MultiReader(bytes.NewReader(start), io.LimitReader(block, r.Size-int64(len(start)))))
}
