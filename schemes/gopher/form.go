package gopher

import (
	"context"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/askform"
)

// A Form contains the fields in the +ASK attribute of a Gopher+ item. The user
// must fill in the form before the item can be fetched. All texts in a Form
// come from the server and must be escaped before they are shown on a terminal.
//
// A Form is a slice of Fields. Its method Fill returns the answers, one for each
// Field, and does not change the Form. The keys of the parameter answers are prompts
// or numbers of Fields from "1". For other Fields, Fill calls prompt, or uses the
// default if prompt is nil. A missing answer is an error with the Fault NeedQuery:
//
//	func (f Form) Fill(answers map[string]string, prompt func(Field) (string, error)) ([]string, error)
type Form = askform.Form

// A Field is a line of a [Form], with the fields
//
//	Kind    FieldKind
//	Prompt  string
//	Default string   // default answer, or "" if there is none
//	Choices []string // the choices if Kind is Choice
type Field = askform.Field

// A FieldKind is the type of a [Field].
type FieldKind = askform.FieldKind

// The values of Field.Kind, with the commands of Gopher+ that define them.
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
