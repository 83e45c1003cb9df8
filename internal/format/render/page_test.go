package render_test

import (
	"io"
	"testing"
	"testing/fstest"

	"github.com/anyurl/fetch/internal/format/render"
)

// TestTemplatesAfterInsert checks that the templates of a page can be parsed
// after another page was written. A template that was executed cannot be cloned.
func TestTemplatesAfterInsert(t *testing.T) {
	if err := (&render.Banner{Label: "Capture"}).Insert(io.Discard); err != nil {
		t.Fatal(err)
	}
	pages, err := render.Templates(fstest.MapFS{"x.html": {Data: []byte(`{{define "x"}}{{template "top" .}}{{end}}`)}}, "*.html")
	if err != nil {
		t.Fatal(err)
	}
	if err := pages.ExecuteTemplate(io.Discard, "x", &render.Page{Title: "x"}); err != nil {
		t.Error(err)
	}
}
