package peer

import (
	"os"
	"path/filepath"
)

// NeedModule returns the path of node and the path of a file in an npm package.
// The module has the form name@version and is installed by "make peers". If
// node or the file is missing, the test is skipped. With CI=true in the
// environment, the test fails instead.
func NeedModule(t TB, module, name, file string) (node, path string) {
	t.Helper()
	node = Need(t, "node", "nodejs")
	path = filepath.Join(unpacked, module, "node_modules", name, file)
	if _, err := os.Stat(path); err != nil {
		skip(t, "%s is absent: make peers installs %s", path, module)
	}
	return node, path
}
