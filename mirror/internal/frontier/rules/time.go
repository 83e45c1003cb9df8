package rules

import (
	"database/sql"
	"time"
)

// PausedTime is the value of Host.Next for a paused host.
const PausedTime = 1 << 62

// FarFuture is the value of URL.Wait for a postponed item. It is also the value
// of Host.Due for a host that has only postponed items.
const FarFuture = 1<<63 - 1

// Micros returns the value that represents t in the database. The value is the
// number of microseconds since 1970, or 0 for the zero Time.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// NullTime returns the value that represents t in a column that is null for the
// zero Time.
func NullTime(t time.Time) sql.NullInt64 { return sql.NullInt64{Int64: Micros(t), Valid: !t.IsZero()} }

// TimeOf returns the time that NullTime has converted to n.
func TimeOf(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.UnixMicro(n.Int64).UTC()
}

// WaitOf returns the time until which an item waits that must not be visited
// before the time until. The result is null if this time has passed.
func WaitOf(until time.Time, now int64) sql.NullInt64 {
	if w := NullTime(until); w.Int64 > now {
		return w
	}
	return sql.NullInt64{}
}
