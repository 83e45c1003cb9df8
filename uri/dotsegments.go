package uri

import (
	"bytes"
	"strings"
)

// appendWithoutDots removes the dot segments from path (RFC 3986 section 5.2.4)
// and appends the result to dst. It runs in linear time.
func appendWithoutDots(dst []byte, path string) []byte {
	floor := len(dst)
	for { // RFC 3986 section 5.2.4, step A: only the first segment can lack a leading slash
		rest, ok := strings.CutPrefix(path, "../")
		if !ok {
			rest, ok = strings.CutPrefix(path, "./")
		}
		if !ok {
			break
		}
		path = rest
	}
	if path == "." || path == ".." { // RFC 3986 section 5.2.4, step D
		return dst
	}
	for path != "" {
		end := strings.IndexByte(path[1:], '/') + 1
		if end == 0 {
			end = len(path)
		}
		segment := path[:end]
		path = path[end:]
		switch segment {
		case "/..":
			dst = dst[:max(floor, floor+bytes.LastIndexByte(dst[floor:], '/'))]
			fallthrough
		case "/.":
			if path == "" {
				dst = append(dst, '/')
			}
		default:
			dst = append(dst, segment...)
		}
	}
	return dst
}

// draftWithoutDots removes dot segments by the rules of the RFC 3986 drafts. It
// removes each "." segment, and each ".." together with the segment before it.
// A ".." without a preceding segment is kept. The function works in place and
// in linear time.
func draftWithoutDots(b []byte) []byte {
	out := b[:0]
	for rest, more := b, true; more; {
		var segment []byte
		segment, rest, more = bytes.Cut(rest, []byte("/"))
		switch {
		case string(segment) == ".":
			continue
		case string(segment) == "..":
			if n, ok := parentLength(out); ok {
				out = out[:n]
				continue
			}
		}
		out = append(out, segment...)
		if more {
			out = append(out, '/')
		}
	}
	return out
}

// parentLength returns the length of the path b without its last segment. It
// returns false if the last segment is ".." or the root, which cannot be
// removed. Each segment of b must end with a slash.
func parentLength(b []byte) (int, bool) {
	if len(b) == 0 || len(b) == 1 && b[0] == '/' {
		return 0, false
	}
	n := bytes.LastIndexByte(b[:len(b)-1], '/') + 1
	return n, string(b[n:]) != "../"
}
