package peer

import (
	"os"
	"path/filepath"
)

// NeedModule returns the path of node and the path of a file in an npm package,
// given as name@version, that "make peers" installs. If one is missing, the
// test is skipped; with CI=true it fails.
func NeedModule(t TB, module, name, file string) (node, path string) {
	t.Helper()
	node = Need(t, "node", "nodejs")
	path = filepath.Join(unpacked, module, "node_modules", name, file)
	if _, err := os.Stat(path); err != nil {
		skip(t, "%s is absent: make peers installs %s", path, module)
	}
	return node, path
}
