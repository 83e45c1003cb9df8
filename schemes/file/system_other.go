//go:build !unix

package file

import "io/fs"

const noWait = 0

// identity has nothing to tell beyond the URL.
func identity(fs.FileInfo) string { return "" }
