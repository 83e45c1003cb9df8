package wrap

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/http1"
)

// ignoresRange reports whether an http response contains the complete object,
// although a range with an end was requested. The http driver then reports no
// size.
func ignoresRange(resp *fetch.Response) bool {
	return resp.Code >= 200 && resp.Code < 300 && resp.Code != http.StatusPartialContent && resp.Size < 0
}

// completeSize returns the size of the object in a response for which
// ignoresRange is true, or -1 if it is unknown.
func completeSize(h fetch.Header) int64 {
	n, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64)
	if err != nil || n < 0 || h.Get("Transfer-Encoding") != "" {
		return -1
	}
	return n
}

// setCompleteHead changes the head of a response with status 206. The new head
// describes the bytes that req requested, in place of the first segment.
func setCompleteHead(req *fetch.Request, resp *fetch.Response) {
	if resp.Code != http.StatusPartialContent {
		return
	}
	resp.Header = resp.Header.Without(describesSegment)
	add := func(name, value string) { resp.Header = append(resp.Header, fetch.Field{Name: name, Value: value}) }
	add("Content-Length", strconv.FormatInt(resp.Size-resp.Offset, 10))
	if req.Range.IsZero() {
		resp.Code = http.StatusOK
	} else if resp.Offset < resp.Size {
		add("Content-Range", fmt.Sprintf("bytes %d-%d/%d", resp.Offset, resp.Size-1, resp.Size))
	}
	head := fmt.Appendf(nil, "%s %d %s\r\n", resp.Proto, resp.Code, http.StatusText(resp.Code))
	for _, f := range resp.Header {
		head = http1.AppendField(head, f.Name, f.Value)
	}
	resp.Head = append(head, "\r\n"...)
}

// describesSegment reports whether the header field with this name describes
// only the body of a response with status 206 and not the object.
func describesSegment(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Content-Length", "Content-Range", "Transfer-Encoding", "Trailer", "Content-Digest", "Content-Md5":
		return true
	}
	return false
}
