//go:build !unix

package netrc

import "io/fs"

const (
	nonblock = 0
	nofollow = 0
)

func isLink(error) bool { return false }

// owner returns -1, which means that the owner is unknown. On this system,
// access control lists protect files instead of an owner and a mode.
func owner(fs.FileInfo) int { return -1 }
