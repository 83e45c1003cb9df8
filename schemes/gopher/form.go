package gopher

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// A Form is what an item wants to be told before it is sent: the +ASK
// attribute of Gopher+. Its texts are the server's: escape them before they
// are shown.
type Form []Field

// A Field is one line of a Form.
type Field struct {
	Kind    FieldKind
	Prompt  string
	Default string   // "" where there is none
	Choices []string // of a Choice
}

// FieldKind says what a Field asks for.
type FieldKind uint8

const (
	Note     FieldKind = iota // nothing: a text to be read
	Line                      // Ask: a line
	Password                  // AskP: a line that is not shown
	Text                      // AskL: lines, parted by "\n"
	SaveName                  // AskF: the name of a local file for the answer
	Check                     // Select: "1" or "0"
	Choice                    // Choose: one of Choices
	File                      // ChooseF: a local file. Nothing is ever sent for it
)

// fieldKinds are the kinds by their names on the wire. UMN's client compares
// them without regard to case, and so do we.
var fieldKinds = map[string]FieldKind{
	"note": Note, "ask": Line, "askp": Password, "askl": Text, "askf": SaveName,
	"select": Check, "choose": Choice, "choosef": File,
}

// answered reports whether a field of this kind has an answer.
func (k FieldKind) answered() bool { return k != Note && k != File }

// parseFields reads the lines of an +ASK block. A line that has no kind is a
// Note; a kind that nobody knows is asked for as a Line.
func parseFields(lines []string) Form {
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
		if p, v, ok := cutLast(prompt, ":"); ok && values == "" { // as UMN's client reads it
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

// Fill makes the answers to f. It takes each from answers, by the prompt of
// the field (a colon or question mark at its end does not matter, nor does
// case) or by its number, the first being "1" and notes not counted; else from
// prompt, if that is not nil; else it is the default. A field without any of
// these is an error of Fault NeedQuery, and a name in answers that the form
// does not have, or two fields that share it, one of Fault Usage.
func (f Form) Fill(answers map[string]string, prompt func(Field) (string, error)) ([]string, error) {
	given, err := f.assign(answers)
	if err != nil {
		return nil, err
	}
	filled := make([]string, len(f))
	for i, field := range f {
		answer, ok := given[i]
		switch {
		case ok, !field.Kind.answered():
		case prompt != nil:
			if answer, err = prompt(field); err != nil {
				return nil, err
			}
		case field.Default == "":
			return nil, fetch.NeedQuery.Errorf("form asks for %q", field.Prompt)
		default:
			answer = field.Default
		}
		filled[i] = answer
	}
	return filled, nil
}

// assign finds the field of each answer.
func (f Form) assign(answers map[string]string) (map[int]string, error) {
	given := make(map[int]string, len(answers))
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		i, err := f.find(name)
		if err != nil {
			return nil, err
		}
		given[i] = answers[name]
	}
	return given, nil
}

func (f Form) find(name string) (int, error) {
	found, number := -1, 0
	for i, field := range f {
		if !field.Kind.answered() {
			continue
		}
		number++
		if name == strconv.Itoa(number) {
			return i, nil
		}
		if !strings.EqualFold(label(field.Prompt), label(name)) {
			continue
		}
		if found >= 0 {
			return 0, fetch.Usage.Errorf("form has two fields %q: use their numbers", name)
		}
		found = i
	}
	if found < 0 {
		return 0, fetch.Usage.Errorf("form has no field %q", name)
	}
	return found, nil
}

func label(prompt string) string { return strings.TrimRight(strings.TrimSpace(prompt), ":? ") }

// encode checks answers, one for each field, and makes them lines.
func (f Form) encode(answers []string) (*form, error) {
	if len(answers) != len(f) {
		return nil, fetch.Usage.Errorf("%d answers to a form of %d fields", len(answers), len(f))
	}
	out := &form{}
	for i, field := range f {
		if !field.Kind.answered() {
			continue
		}
		values, err := field.values(answers[i])
		if err != nil {
			return nil, err
		}
		for _, v := range values {
			out.add(v, field.Kind == Password)
		}
	}
	return out, nil
}

// values are the lines of one answer.
func (f Field) values(answer string) ([]string, error) {
	if f.Kind == Text {
		answer = strings.TrimSuffix(strings.ReplaceAll(answer, "\r\n", "\n"), "\n")
		values := strings.Split(answer, "\n")
		if slices.ContainsFunc(values, unsafe) {
			return nil, fetch.Usage.Errorf("CR or NUL in an answer")
		}
		return append([]string{strconv.Itoa(len(values))}, values...), nil
	}
	switch {
	case unsafe(answer):
		return nil, fetch.Usage.Errorf("CR, LF or NUL in an answer")
	case f.Kind == Check:
		v, ok := checks[strings.ToLower(answer)]
		if !ok {
			return nil, fetch.Usage.Errorf("%q is answered yes or no", f.Prompt)
		}
		answer = v
	case f.Kind == Choice && !slices.Contains(f.Choices, answer):
		return nil, fetch.Usage.Errorf("%q is one of %q", f.Prompt, f.Choices)
	}
	return []string{answer}, nil
}

var checks = map[string]string{"1": "1", "yes": "1", "true": "1", "on": "1", "0": "0", "no": "0", "false": "0", "off": "0", "": "0"}

// fill brings the form of an item and has it filled.
func (d *driver) fill(ctx context.Context, req *fetch.Request, l locator) (command, error) {
	a, _, err := d.ask(ctx, req, l)
	if err != nil {
		return command{}, err
	}
	f := parseFields(a.lines("ASK"))
	var answers []string
	switch {
	case len(f) == 0:
		req.Trace.Notef("item has no form after all")
		return command{verb: '+'}, nil
	case d.options.Ask == nil:
		answers, err = f.Fill(nil, nil)
	default:
		answers, err = d.options.Ask(ctx, f)
	}
	if err != nil {
		return command{}, err
	}
	data, err := f.encode(answers)
	return command{verb: '+', filled: true, form: data}, err
}
