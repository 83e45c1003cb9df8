package transcript

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// parseConditions parses the conditions of a request into req. The result list
// is true if the condition "list" is among them.
func parseConditions(req *fetch.Request, words []string) (list bool, err error) {
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		err = nil
		switch name {
		case "stat":
			req.Op = fetch.Stat
		case "list":
			list = true
		case "nofollow":
			req.NoFollow = true
		case "range":
			req.Range, err = parseRange(value)
		case "if-same":
			req.IfSame = value
		case "if-not":
			req.IfNot = value
		case "since":
			req.Since, err = time.Parse(time.RFC3339, value)
		case "before":
			req.Before, err = time.Parse(time.RFC3339, value)
		case "token":
			req.Auth = &fetch.Credential{User: "bob", Token: fetch.Secret(value)}
		default:
			err = fmt.Errorf("there is no such condition")
		}
		if err != nil {
			return false, fmt.Errorf("condition %s: %w", word, err)
		}
	}
	return list, nil
}

// parseRange parses a range from A to before B in the form "A:B". The form "A:"
// has no end.
func parseRange(text string) (r fetch.Range, err error) {
	first, end, ok := strings.Cut(text, ":")
	if !ok {
		return r, fmt.Errorf("range %q has no colon", text)
	}
	if r.First, err = strconv.ParseInt(first, 10, 64); err == nil && end != "" {
		r.End, err = strconv.ParseInt(end, 10, 64)
	}
	return r, err
}
