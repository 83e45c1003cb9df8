// Package askform implements the forms of Gopher+ items. It parses the fields
// in the +ASK attribute and encodes the answers of the user for the server.
package askform

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// A Form contains the fields in the +ASK attribute of a Gopher+ item. The user
// must fill in the form before the item can be fetched. All texts in a Form
// come from the server and must be escaped before they are shown on a terminal.
type Form []Field

// A Field is a line of a [Form].
type Field struct {
	Kind    FieldKind
	Prompt  string
	Default string   // default answer, or "" if there is none
	Choices []string // the choices if Kind is Choice
}

// A FieldKind is the type of a [Field].
type FieldKind uint8

const (
	Note     FieldKind = iota // text that requires no answer
	Line                      // Ask: a line of text
	Password                  // AskP: a line of text that is hidden while the user types
	Text                      // AskL: several lines of text, separated by "\n"
	SaveName                  // AskF: name of a local file to save the response in
	Check                     // Select: "1" or "0"
	Choice                    // Choose: one of Choices
	File                      // ChooseF: name of a local file, which is never sent
)

// fieldKinds maps the name of a field kind in a +ASK block to the kind. Names
// are compared in lower case, as in the UMN client.
var fieldKinds = map[string]FieldKind{
	"note": Note, "ask": Line, "askp": Password, "askl": Text, "askf": SaveName,
	"select": Check, "choose": Choice, "choosef": File,
}

// HasAnswer reports whether the user fills in fields of this kind. Notes are
// only shown, and local files are never sent.
func (k FieldKind) HasAnswer() bool { return k != Note && k != File }

// Parse parses the lines of a +ASK block. A line without a kind becomes a
// Note. A field of an unknown kind becomes a Line.
func Parse(lines []string) Form {
	f := make(Form, 0, len(lines))
	for _, l := range lines {
		kind, rest, ok := strings.Cut(l, ":")
		if !ok {
			f = append(f, Field{Kind: Note, Prompt: l})
			continue
		}
		k, known := fieldKinds[strings.ToLower(strings.TrimSpace(kind))]
		if !known {
			k = Line
		}
		f = append(f, parseField(k, strings.TrimPrefix(rest, " ")))
	}
	return f
}

func parseField(k FieldKind, rest string) Field {
	prompt, values, _ := strings.Cut(rest, "\t")
	f := Field{Kind: k, Prompt: prompt, Default: values}
	switch k {
	case Choice:
		f.Choices = strings.Split(values, "\t")
		f.Default = f.Choices[0]
	case Check:
		if p, v, ok := cutLast(prompt, ":"); ok && values == "" { // "PROMPT:DEFAULT", as in the UMN client
			f.Prompt, f.Default = p, v
		}
		if f.Default != "1" {
			f.Default = "0"
		}
	}
	return f
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// Fill returns the answers to f, one for each field. It takes the answer from the
// map answers, if the map has an answer for the field. Otherwise it calls prompt
// or, if prompt is nil, uses the default of the field.
//
// The keys of answers are prompts or field numbers. Prompts are compared
// without regard to case and to a final colon or question mark. Numbers start
// at "1" and do not count notes.
//
// If a field has neither an answer nor a default, the error has the fault
// NeedQuery. If a key of answers matches no field or two fields, the error has
// the fault Usage.
func (f Form) Fill(answers map[string]string, prompt func(Field) (string, error)) ([]string, error) {
	assigned, err := f.assign(answers)
	if err != nil {
		return nil, err
	}
	filled := make([]string, len(f))
	for i, field := range f {
		answer, ok := assigned[i]
		switch {
		case ok, !field.Kind.HasAnswer():
		case prompt != nil:
			if answer, err = prompt(field); err != nil {
				return nil, err
			}
		case field.Default == "":
			return nil, fetch.NeedQuery.Errorf("form requires an answer to %q", field.Prompt)
		default:
			answer = field.Default
		}
		filled[i] = answer
	}
	return filled, nil
}

// assign finds the field of each user-supplied answer. The keys of the result
// are indexes of fields in the form.
func (f Form) assign(answers map[string]string) (map[int]string, error) {
	assigned := make(map[int]string, len(answers))
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		i, err := f.fieldIndex(name)
		if err != nil {
			return nil, err
		}
		assigned[i] = answers[name]
	}
	return assigned, nil
}

func (f Form) fieldIndex(name string) (int, error) {
	found, number := -1, 0
	for i, field := range f {
		if !field.Kind.HasAnswer() {
			continue
		}
		number++
		if name == strconv.Itoa(number) {
			return i, nil
		}
		if !strings.EqualFold(fieldLabel(field.Prompt), fieldLabel(name)) {
			continue
		}
		if found >= 0 {
			return 0, fetch.Usage.Errorf("form has two fields %q: use the field numbers instead", name)
		}
		found = i
	}
	if found < 0 {
		return 0, fetch.Usage.Errorf("form has no field %q", name)
	}
	return found, nil
}

func fieldLabel(prompt string) string { return strings.TrimRight(strings.TrimSpace(prompt), ":? ") }

// Encode validates the answers, one for each field, and returns the form data
// to send.
func (f Form) Encode(answers []string) (*Data, error) {
	if len(answers) != len(f) {
		return nil, fetch.Usage.Errorf("%d answers for a form with %d fields", len(answers), len(f))
	}
	out := &Data{}
	for i, field := range f {
		if !field.Kind.HasAnswer() {
			continue
		}
		values, err := field.answerLines(answers[i])
		if err != nil {
			return nil, err
		}
		for _, v := range values {
			out.add(v, field.Kind == Password)
		}
	}
	return out, nil
}

// answerLines returns the lines to send for one answer.
func (f Field) answerLines(answer string) ([]string, error) {
	if f.Kind == Text {
		answer = strings.TrimSuffix(strings.ReplaceAll(answer, "\r\n", "\n"), "\n")
		values := strings.Split(answer, "\n")
		if slices.ContainsFunc(values, breaksLine) {
			return nil, fetch.Usage.Errorf("CR or NUL in the answer to a form")
		}
		return append([]string{strconv.Itoa(len(values))}, values...), nil
	}
	switch {
	case breaksLine(answer):
		return nil, fetch.Usage.Errorf("CR, LF or NUL in the answer to a form")
	case f.Kind == Check:
		v, ok := checks[strings.ToLower(answer)]
		if !ok {
			return nil, fetch.Usage.Errorf("answer to %q must be yes or no", f.Prompt)
		}
		answer = v
	case f.Kind == Choice && !slices.Contains(f.Choices, answer):
		return nil, fetch.Usage.Errorf("answer to %q must be one of %q", f.Prompt, f.Choices)
	}
	return []string{answer}, nil
}

var checks = map[string]string{
	"1": "1", "yes": "1", "true": "1", "on": "1",
	"0": "0", "no": "0", "false": "0", "off": "0", "": "0",
}
