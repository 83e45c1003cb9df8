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
	if tag := field("ETag"); len(tag) > 2 && tag[0] == '"' && tag[len(tag)-1] == '"' && !strings.ContainsAny(tag, " \t") {
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
