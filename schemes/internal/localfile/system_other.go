//go:build !unix

package localfile

import "io/fs"

const noWait = 0

// identity returns "", because this system has no portable identifier of a
// file.
func identity(fs.FileInfo) string { return "" }
