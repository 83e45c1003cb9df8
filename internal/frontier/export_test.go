package frontier

import (
	"context"
	"fmt"
)

// OpenClock is Open with a clock.
var OpenClock = open

// LimitPages makes the disk full when the file has so many pages of 4 KiB.
func LimitPages(ctx context.Context, f Frontier, pages int) error {
	e := f.(*engine)
	s, err := e.take(ctx, e.writer)
	if err != nil {
		return err
	}
	defer func() { e.writer <- s }()
	var now int
	return s.Scan(fmt.Sprintf("pragma max_page_count = %d", pages), nil, &now)
}
