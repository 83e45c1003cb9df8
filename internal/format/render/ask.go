package render

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/format/askform"
	"github.com/anyurl/fetch/uri"
)

// ReadForm returns the form of the Gopher+ item at u. The response r contains
// the attributes of the item, which the caller requested from the URL that
// [askform.Attributes] returns. If the item has no form, ReadForm returns nil.
func ReadForm(ctx context.Context, s fetch.Scheme, u uri.URI, r *fetch.Response) (askform.Form, error) {
	for e, err := range s.Menu(u, r.Media, r.Body) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if text := e.Extra["ask"]; text != "" {
			return askform.Parse(strings.Split(text, "\n")), nil
		}
	}
	return nil, nil
}

// isAsk reports whether the view shows the form of a Gopher+ item.
func (v *View) isAsk() bool {
	_, ok := askform.Attributes(v.URL)
	return ok && v.Response.Kind == fetch.Menu && v.Scheme.Menu != nil
}

type askPage struct {
	Page
	Action  string
	Hidden  []Field
	Fields  []askField
	Problem string
	About   *about
}

// An askField is a field of a Gopher+ form. Its name is its number, as in
// [askform.Form.Fill].
type askField struct {
	Name, Prompt, Default, Type string
	Choices                     []string
}

// askTypes maps the kinds of form fields to the types of their input elements.
// A file is never sent, and the name of a file to save has no effect in a
// browser.
var askTypes = map[askform.FieldKind]string{
	askform.Note: "note", askform.Line: "text", askform.Password: "password", askform.Text: "textarea",
	askform.Check: "checkbox", askform.Choice: "select", askform.SaveName: "text", askform.File: "file",
}

// ask writes a page with the form of a Gopher+ item.
func (v *View) ask(ctx context.Context, w io.Writer) error {
	data := askPage{Page: v.Page}
	form, err := ReadForm(ctx, v.Scheme, v.URL, v.Response)
	var ok bool
	data.Action, data.Hidden, ok = v.Links.Query(v.URL)
	switch {
	case err != nil:
		data.Problem = "The form cannot be read. " + v.Problem(err)
	case len(form) == 0:
		data.Problem = "The item has no form."
	case !ok:
		data.Problem = "The form cannot be sent from this page."
	}
	number := 0
	for _, f := range form {
		shown := askField{Prompt: tty.Escape(f.Prompt), Default: f.Default, Type: askTypes[f.Kind], Choices: f.Choices}
		if f.Kind.HasAnswer() {
			number++
			shown.Name = strconv.Itoa(number)
		}
		data.Fields = append(data.Fields, shown)
	}
	data.About = v.about(err == nil)
	return execute(w, "ask", data)
}
