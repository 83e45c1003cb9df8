package rules

import "time"

// Micros returns the value that represents t in the database. The value is the
// number of microseconds since 1970, or 0 for the zero Time.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}
