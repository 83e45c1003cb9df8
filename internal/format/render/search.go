package render

import (
	"io"

	"github.com/anyurl/fetch/fetch"
)

// WordsField is the name of the form field that contains the search words.
const WordsField = "words"

// A searchForm contains the data of an HTML form that sends search words to a
// searchable object.
type searchForm struct {
	Action string
	Hidden []Field
	Label  string
}

// searchForm returns the form that searches the object of v, or nil if the
// object cannot be searched.
func (v *View) searchForm() *searchForm {
	if v.Scheme.Query == nil {
		return nil
	}
	if _, err := v.Scheme.Query(v.URL, fetch.Search{Words: "words"}); err != nil {
		return nil
	}
	action, hidden, ok := v.Links.Query(v.URL)
	if !ok {
		return nil
	}
	return &searchForm{Action: action, Hidden: hidden, Label: "Search words"}
}

// search writes the page of an index that has no listing.
func (v *View) search(w io.Writer) error {
	return execute(w, "searchpage", struct {
		Page
		Search *searchForm
	}{v.Page, v.searchForm()})
}
