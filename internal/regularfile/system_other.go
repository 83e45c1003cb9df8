//go:build !unix

package regularfile

import "io/fs"

const nonBlock = 0

// links returns 1, because the number is not known.
func links(fs.FileInfo) uint64 { return 1 }
