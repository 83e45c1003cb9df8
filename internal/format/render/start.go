package render

import "io"

// A Start contains the data for index.html, the start page of a static copy.
type Start struct {
	Page
	Seeds []Link
}

// Write writes the start page to w.
func (s Start) Write(w io.Writer) error { return execute(w, "start", s) }
