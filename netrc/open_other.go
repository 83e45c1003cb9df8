//go:build !unix

package netrc

import "io/fs"

const (
	nonblock = 0
	nofollow = 0
)

func isLink(error) bool { return false }

// owner is not known: access lists, not modes, guard files here.
func owner(fs.FileInfo) int { return -1 }
