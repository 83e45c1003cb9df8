package coding

import (
	"bufio"
	"bytes"
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
)

// maxStart is the number of bytes that DecodeStored examines.
const maxStart = 4 << 10

// DecodeStored is like [Decode], but accepts a response from an archive that
// names a wrong coding. If a coding is unknown, or if the body does not have the
// codings, DecodeStored does not change the body, as browsers do. t may be nil.
func DecodeStored(resp *fetch.Response, t *trace.Trace) (decoded bool, err error) {
	values := resp.Header.Values("Content-Encoding")
	list, err := Parse(values)
	if fetch.FaultOf(err) == fetch.Unsupported {
		t.Notef("the body is not decoded, because its content coding %q is unknown", resp.Header.Get("Content-Encoding"))
		return false, nil
	}
	if err != nil || len(list) == 0 {
		return false, err
	}
	in := bufio.NewReaderSize(resp.Body, maxStart)
	start, err := in.Peek(maxStart) // the next Read returns the same error
	resp.Body = struct {
		io.Reader
		io.Closer
	}{in, resp.Body}
	if !hasCodings(start, list, err != nil) {
		t.Notef("the body does not have the content coding %q", resp.Header.Get("Content-Encoding"))
		return false, nil
	}
	return Decode(resp, t)
}

// hasCodings reports whether a body that begins with start can be decoded. The
// parameter complete is true if start is the complete body.
func hasCodings(start []byte, list []string, complete bool) bool {
	if len(start) == 0 || len(list) == 1 && Detect(start) == list[0] {
		return true
	}
	n, err := NewReader(io.NopCloser(bytes.NewReader(start)), list, nil).Read(make([]byte, 1))
	return n > 0 || err == nil || err == io.EOF || fetch.FaultOf(err) == fetch.Truncated && !complete
}
