//go:build !unix

package download

import "math"

func openFileLimit() int { return math.MaxInt32 }
