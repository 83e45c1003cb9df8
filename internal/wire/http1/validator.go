package http1

import (
	"strings"
	"time"
)

// Validator returns the strong validator of a response, for use in later
// conditional requests (RFC 9110 section 8.8). It returns the entity tag if the
// tag is strong. Otherwise it returns the value of Last-Modified if this time
// is at least a minute before Date. Otherwise it returns "". The function field
// returns the value of a header field, and parseTime parses an HTTP date.
func Validator(field func(name string) string, parseTime func(string) (time.Time, error)) string {
	if tag := field("ETag"); isStrongTag(tag) {
		return tag
	}
	modified := field("Last-Modified")
	changed, err := parseTime(modified)
	if err != nil {
		return ""
	}
	sent, err := parseTime(field("Date"))
	if err != nil || sent.Sub(changed) < time.Minute {
		return ""
	}
	return modified
}

// Condition returns the validator of a response for a later If-None-Match or
// If-Modified-Since field. It is like Validator, but also returns weak entity
// tags, because If-None-Match uses the weak comparison (RFC 9110 section
// 13.1.2).
func Condition(field func(name string) string, parseTime func(string) (time.Time, error)) string {
	tag := field("ETag")
	if opaque, weak := strings.CutPrefix(tag, "W/"); weak && isStrongTag(opaque) {
		return tag
	}
	return Validator(field, parseTime)
}

// isStrongTag reports whether text is a strong entity tag that is not empty.
func isStrongTag(text string) bool {
	return len(text) > 2 && text[0] == '"' && text[len(text)-1] == '"' && !strings.ContainsAny(text, " \t") && !HasControl(text)
}
