package render

import "io"

// A Start is the first page of static files.
type Start struct {
	Page
	Seeds []Link
}

// Write writes the page.
func (s Start) Write(w io.Writer) error { return execute(w, "start", s) }
