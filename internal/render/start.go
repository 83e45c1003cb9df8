package render

import "io"

// A Start contains the data of the page index.html of a static copy.
type Start struct {
	Page
	Seeds []Link
}

// Write writes the page.
func (s Start) Write(w io.Writer) error { return execute(w, "start", s) }
