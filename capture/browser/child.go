package browser

import "github.com/anyurl/fetch/internal/base/chromium"

// Child must be the first call of the function main of a program that opens
// browsers on Linux without root privileges. Such a program sets Options.Child.
// Child returns at once, unless [Open] has started the program again to enter a
// network namespace. Such a process becomes the browser and does not return.
func Child() { chromium.Child() }
