package capture

import "time"

// Started returns the time at which the request was sent. It is the date of the
// records.
func (x *Exchange) Started() time.Time { return x.record.Started }
