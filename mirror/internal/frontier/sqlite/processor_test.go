//go:build !unix

package sqlite_test

import "time"

func processor() time.Duration { return 0 }
