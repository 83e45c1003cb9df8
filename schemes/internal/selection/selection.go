// Package selection decides which part of an object a request selects: whether
// its conditions exclude the object, and which range of bytes is sent. Drivers
// use it if their protocol transfers files but defines no conditions.
package selection

import (
	"time"

	"github.com/anyurl/fetch/fetch"
)

// Excludes reports whether the conditions IfNot, Since and Before of a request
// exclude an object. The object is then unchanged, and is not sent.
//
// An empty validator and a zero time mean that the server does not report them.
// They exclude no object.
func Excludes(req *fetch.Request, validator string, modified time.Time) bool {
	if req.IfNot != "" && req.IfNot == validator {
		return true
	}
	if modified.IsZero() {
		return false
	}
	return !req.Since.IsZero() && !modified.After(req.Since) || !req.Before.IsZero() && modified.After(req.Before)
}

// Range returns the range of a request. If the validator of the object differs
// from IfSame, the object has changed, and Range returns the complete object.
func Range(req *fetch.Request, validator string) fetch.Range {
	if req.IfSame != "" && req.IfSame != validator {
		return fetch.Range{}
	}
	return req.Range
}

// Bounds returns the offsets of the range of a request in an object of the given
// size. A range that starts at the end of the object is empty. The argument
// object is the word for the object in errors, such as "file".
func Bounds(req *fetch.Request, validator string, size int64, object string) (first, end int64, err error) {
	first, end, ok := Range(req, validator).Bounds(size)
	if !ok && first != size {
		return 0, 0, fetch.Denied.Errorf("range starts at byte %d, but the %s has %d bytes", first, object, size)
	}
	return first, max(first, end), nil
}

// IgnoreRange adds a note to the trace if a request has a range. The argument
// name is the name of a protocol without ranges.
func IgnoreRange(req *fetch.Request, name string) {
	if !req.Range.IsZero() {
		req.Trace.Notef("%s does not support ranges: fetching the complete object", name)
	}
}
