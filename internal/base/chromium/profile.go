package chromium

import (
	"fmt"
	"os"
	"path/filepath"
)

// openProfile makes the path in Options.Profile absolute, because the browser runs
// in another directory. It returns an error if there is no such directory, or if
// another browser uses it. Chromium would send its command to that browser.
func (o *Options) openProfile() error {
	if o.Profile == "" {
		return nil
	}
	dir, err := filepath.Abs(o.Profile)
	if err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("profile %s is not a directory", dir)
	}
	o.Profile = dir
	return checkUnused(dir)
}
