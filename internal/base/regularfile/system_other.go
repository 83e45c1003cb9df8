//go:build !unix

package regularfile

import "io/fs"

const nonBlock = 0

// linkCount returns 1, because the number of hard links is not available.
func linkCount(fs.FileInfo) uint64 { return 1 }
