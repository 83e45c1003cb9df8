package http1

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

// An End is the method that determines the end of a body, such as the
// Content-Length field.
type End uint8

const (
	AtClose  End = iota // at the end of the connection or of the stored message
	AtHead              // after the head, because the message has no body
	AtLength            // after Framing.Length bytes
	AtChunks            // after the last chunk and the trailer
)

// A Framing describes where a body ends, and whether the connection can be
// reused after the body (RFC 9112 6.3 and 9.3).
type Framing struct {
	End            End
	Length         int64    // Content-Length in bytes, or -1 if unknown or invalid
	LengthOverflow bool     // Content-Length exceeds 62 bits
	Codings        []string // transfer codings other than chunked, in the order in which they were applied
	KeepAlive      bool     // the server keeps the connection open
}

// Frame determines the framing of a body from the status line and the header
// fields. head must be true for the response to a HEAD request. In the mode
// [Stored], a body that is not chunked ends at the end of its archive record.
func Frame[F Field](r *Rules, s Status, fields []F, head bool) (Framing, error) {
	d := framingFields{http10: s.Proto == "HTTP/1.0"}
	for _, f := range fields {
		f := struct{ Name, Value string }(f)
		d.add(f.Name, f.Value)
	}
	out := Framing{Length: -1, KeepAlive: !d.close && (s.Minor > 0 || d.keepAlive)}
	if d.ignoredCodings { // RFC 9112 6.1
		if err := r.tolerate("Transfer-Encoding in an HTTP/1.0 response ignored"); err != nil {
			return out, err
		}
	}
	if err := r.parseLength(&d, &out); err != nil {
		return out, err
	}
	switch {
	case r.Mode == Stored:
	case head:
		out.End = AtHead
		return out, nil
	case s.Code == 204 || s.Code == 304:
		out.End, out.Length = AtHead, 0
		return out, nil
	case r.IgnoreLength:
		return out, nil
	}
	codings, err := r.effectiveCodings(&d, &out)
	switch last := len(codings) - 1; {
	case err != nil:
	case last >= 0 && codings[last] == "chunked":
		out.End, out.Length, out.Codings, out.LengthOverflow = AtChunks, -1, codings[:last], false
	case last >= 0:
		out.Length, out.Codings, out.LengthOverflow = -1, codings, false
		err = r.Deviate("last transfer coding is not chunked: body ends with the connection")
	case r.Mode == Stored:
	case out.Length == 0:
		out.End = AtHead
	case out.Length > 0:
		out.End = AtLength
	}
	return out, err
}

// framingFields holds the values of Content-Length, Transfer-Encoding and
// Connection, which determine the framing of a message.
type framingFields struct {
	http10         bool // HTTP/1.0 message, in which Transfer-Encoding is ignored
	ignoredCodings bool // a Transfer-Encoding field was ignored

	length           string // the first value of Content-Length
	lengths          int    // number of Content-Length values
	differ           bool   // not all Content-Length values are equal
	codings          []string
	close, keepAlive bool
}

func (d *framingFields) add(name, value string) {
	switch {
	case strings.EqualFold(name, "Content-Length"):
		for value := range items(value) { // "6, 6" is equal to 6 (RFC 9110 8.6)
			if d.lengths++; d.lengths == 1 {
				d.length = value
			}
			d.differ = d.differ || value != d.length
		}
	case strings.EqualFold(name, "Transfer-Encoding") && d.http10:
		d.ignoredCodings = true
	case strings.EqualFold(name, "Transfer-Encoding"):
		for coding := range items(value) {
			d.codings = append(d.codings, strings.ToLower(coding))
		}
	case strings.EqualFold(name, "Connection"), strings.EqualFold(name, "Proxy-Connection"):
		for option := range items(value) {
			d.close = d.close || strings.EqualFold(option, "close")
			d.keepAlive = d.keepAlive || strings.EqualFold(option, "keep-alive")
		}
	}
}

// items returns an iterator over the items of a comma-separated list (RFC 9110
// 5.6.1).
func items(value string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for item := range strings.SplitSeq(value, ",") {
			if !yield(Trim(item)) {
				return
			}
		}
	}
}

func (r *Rules) parseLength(d *framingFields, out *Framing) error {
	if d.lengths == 0 || r.IgnoreLength {
		return nil
	}
	if !d.differ {
		if n, err := strconv.ParseUint(d.length, 10, 62); err == nil {
			out.Length = int64(n)
			return nil
		}
		if overflowsLength(d.length) {
			out.LengthOverflow = true
			return r.tolerate("Content-Length exceeds 62 bits: body ends with the connection")
		}
	}
	return r.Deviate("Content-Length is invalid or ambiguous: body ends with the connection")
}

// ContentLength returns the length in the values of Content-Length, or -1 if it is
// unknown. It reports whether the length exceeds 62 bits. The result is an error if
// the values are invalid or differ.
func (r *Rules) ContentLength(values []string) (n int64, overflow bool, err error) {
	d, out := framingFields{}, Framing{Length: -1}
	for _, v := range values {
		d.add("Content-Length", v)
	}
	err = r.parseLength(&d, &out)
	return out.Length, out.LengthOverflow, err
}

// overflowsLength reports whether a Content-Length is a decimal number that
// needs more than 62 bits. Some servers send 2^64-1 if the length is unknown.
func overflowsLength(value string) bool {
	_, err := strconv.ParseUint(value, 10, 62)
	return err != nil && value != "" && strings.Trim(value, "0123456789") == ""
}

// effectiveCodings returns the transfer codings of a message without "identity"
// and without repeated codings. A server that lists a coding twice has applied
// it only once.
func (r *Rules) effectiveCodings(d *framingFields, out *Framing) ([]string, error) {
	if len(d.codings) == 0 {
		return nil, nil
	}
	redundant := func(c string) bool { return c == "identity" || c == "" && r.Mode == Stored }
	kept := slices.Compact(slices.DeleteFunc(slices.Clone(d.codings), redundant))
	chunked := len(kept) == 1 && kept[0] == "chunked"
	switch {
	case len(kept) == len(d.codings):
		if chunked && d.lengths > 0 {
			out.KeepAlive = false // RFC 9112 6.3
		}
		return kept, nil
	case len(kept) > 0 && !(chunked && d.lengths == 0):
		return kept, r.Deviate("redundant transfer coding")
	}
	return kept, r.tolerate("redundant transfer coding")
}
