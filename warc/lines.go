package warc

import (
	"errors"
	"io"
	"iter"
	"slices"
)

// Lines returns the index lines of the WARC file in r, in the order of its
// records. Records of the types warcinfo and request have no line. Records with
// the media type [FieldsMedia] have no line either. The key of a response to
// another method than GET contains "__wb_method=" and the body of the request,
// as in pywb and warcio.js. The parameter
// file is the file name in the lines. After an [*Error], the sequence continues
// with the next readable record, unless the file is truncated. Any other error
// ends the sequence.
func Lines(file string, r io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		in := lineReader{Reader: NewReader(r), file: file}
		for {
			err := in.read()
			if err != nil || in.next.Length > 0 {
				if in.pending.Length > 0 && !yield(in.pending, nil) {
					return
				}
				in.pending, in.next = in.next, Line{}
			}
			if err == io.EOF {
				return
			}
			if err == nil {
				continue
			}
			var damage *Error
			last := !errors.As(err, &damage) || damage.Truncated
			if in.pending.Length > 0 && !yield(in.pending, nil) || !yield(Line{}, err) || last {
				return
			}
			in.pending = Line{}
		}
	}
}

// A lineReader reads records and their index lines. A line is complete when the
// next line follows, because the request can be stored after its response.
type lineReader struct {
	*Reader
	file          string
	pending, next Line

	response *Header // of pending or next
	request  *Header // of the last request with another method than GET, or nil
	summary  requestSummary
}

// read reads a record. If it has an index line, read sets the field next.
func (r *lineReader) read() error {
	h, err := r.Next()
	if err != nil {
		return err
	}
	if h.hasLine() {
		r.next, err = r.readIndexLine(h, r.file)
		r.response = h
		if h.Type() == Response || h.Type() == Revisit {
			if r.request != nil && areConcurrent(r.request, h) {
				r.next.addRequest(&r.summary)
			}
			r.request = nil
		}
		return err
	}
	if h.Type() != Request || !isHTTP(h.Get("Content-Type")) {
		return nil
	}
	request, err := readRequest(r)
	switch {
	case err != nil:
		return err
	case !request.hasOwnKey():
	case r.pending.Length > 0 && areConcurrent(r.response, h):
		r.pending.addRequest(&request)
	default:
		r.request, r.summary = h, request
	}
	return nil
}

// areConcurrent reports whether x and y belong to the same exchange.
func areConcurrent(x, y *Header) bool {
	names := func(x, y *Header) bool {
		return slices.ContainsFunc(x.Fields.Values("WARC-Concurrent-To"), func(id string) bool { return trimBrackets(id) == y.ID() })
	}
	return x.Target() == y.Target() && (names(x, y) || names(y, x))
}
