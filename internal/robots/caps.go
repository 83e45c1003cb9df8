package robots

import (
	"io"
	"strconv"
	"strings"
	"time"
)

// Caps is what a Gopher site's caps.txt says about how to read its selectors.
// The zero Caps says nothing.
type Caps struct {
	Version   int           // CapsVersion
	Expire    time.Duration // ExpireCapsAfter; 0: it does not say
	Delimiter string        // PathDelimiter: what parts a selector as "/" does a path; "": it does not say
}

// ParseCaps reads a caps.txt: a line "CAPS", then lines "key=value". Without
// the first it is some other text, and says nothing; servers answer anything
// to a selector that they do not know. The error is that of r.
func ParseCaps(r io.Reader) (c Caps, err error) {
	first, caps := true, false
	err = lines(r, func(line string) {
		key, value, ok := field(line, "=")
		switch {
		case first:
			first, caps = false, key == "CAPS" && !ok
		case !caps || !ok:
		case strings.EqualFold(key, "CapsVersion"):
			c.Version, _ = strconv.Atoi(value)
		case strings.EqualFold(key, "ExpireCapsAfter"):
			if s, err := strconv.ParseUint(value, 10, 31); err == nil {
				c.Expire = time.Duration(s) * time.Second
			}
		case strings.EqualFold(key, "PathDelimeter"), strings.EqualFold(key, "PathDelimiter"): // Gophernicus 3.1 writes the first
			c.Delimiter = value
		}
	})
	return c, err
}
