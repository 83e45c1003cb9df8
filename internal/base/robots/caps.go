package robots

import (
	"io"
	"strconv"
	"strings"
	"time"
)

// Caps holds the contents of a caps.txt file, which describes the selectors of
// a Gopher site. A zero field is not specified in the file.
type Caps struct {
	Version   int           // value of CapsVersion
	Expire    time.Duration // value of ExpireCapsAfter
	Delimiter string        // value of PathDelimiter: the separator of path elements in a selector
}

// ParseCaps parses a caps.txt file: a line "CAPS" followed by lines
// "key=value". It returns a zero Caps for other text, because many servers
// return other text for an unknown selector. The error is an error of r.
func ParseCaps(r io.Reader) (c Caps, err error) {
	first, caps := true, false
	err = forEachLine(r, func(line string) {
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
		case strings.EqualFold(key, "PathDelimeter"), // sent by Gophernicus 3.1
			strings.EqualFold(key, "PathDelimiter"):
			c.Delimiter = value
		}
	})
	return c, err
}
