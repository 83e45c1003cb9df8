package gopher

import (
	"context"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/askform"
)

// A Form contains the fields in the +ASK attribute of a Gopher+ item. The user
// must fill in the form before the item can be fetched. All texts in a Form
// come from the server and must be escaped before they are shown on a terminal.
type Form = askform.Form

// A Field is a line of a [Form].
type Field = askform.Field

// A FieldKind is the type of a [Field].
type FieldKind = askform.FieldKind

const (
	Note     = askform.Note     // text that requires no answer
	Line     = askform.Line     // Ask: a line of text
	Password = askform.Password // AskP: a line of text that is hidden while the user types
	Text     = askform.Text     // AskL: several lines of text, separated by "\n"
	SaveName = askform.SaveName // AskF: name of a local file to save the response in
	Check    = askform.Check    // Select: "1" or "0"
	Choice   = askform.Choice   // Choose: one of Choices
	File     = askform.File     // ChooseF: name of a local file, which is never sent
)

// fillForm fetches the form of an item and calls Options.FillForm, which
// returns the answers. It returns the command that sends the answers.
func (d *driver) fillForm(ctx context.Context, req *fetch.Request, l locator) (command, error) {
	a, _, err := d.requestAttributes(ctx, req, l)
	if err != nil {
		return command{}, err
	}
	f := askform.Parse(a.lines("ASK"))
	var answers []string
	switch {
	case len(f) == 0:
		req.Trace.Notef("item has no form: fetching the item without form data")
		return command{verb: '+'}, nil
	case d.options.FillForm == nil:
		answers, err = f.Fill(nil, nil)
	default:
		answers, err = d.options.FillForm(ctx, f)
	}
	if err != nil {
		return command{}, err
	}
	data, err := f.Encode(answers)
	return command{verb: '+', hasForm: true, form: data}, err
}
