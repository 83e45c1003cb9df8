package gopher

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

func TestParseFields(t *testing.T) {
	for _, c := range []struct {
		line string
		want Field
	}{
		{"Note: Please fill in", Field{Kind: Note, Prompt: "Please fill in"}},
		{"Ask: Your name", Field{Kind: Line, Prompt: "Your name"}},
		{"Ask:Your mail\tnobody@localhost", Field{Kind: Line, Prompt: "Your mail", Default: "nobody@localhost"}},
		{"AskP: A password", Field{Kind: Password, Prompt: "A password"}},
		{"AskL: A tale", Field{Kind: Text, Prompt: "A tale"}},
		{"AskF: Save as\tx.txt", Field{Kind: SaveName, Prompt: "Save as", Default: "x.txt"}},
		{"Select: I like it\t1", Field{Kind: Check, Prompt: "I like it", Default: "1"}},
		{"Select: I like it", Field{Kind: Check, Prompt: "I like it", Default: "0"}},
		{"Select: I like it:1", Field{Kind: Check, Prompt: "I like it", Default: "1"}}, // as UMN's client reads it
		{"Select: Really: yes\t0", Field{Kind: Check, Prompt: "Really: yes", Default: "0"}},
		{"Choose: Colour\tred\tgreen", Field{Kind: Choice, Prompt: "Colour", Default: "red", Choices: []string{"red", "green"}}},
		{"ChooseF: A file", Field{Kind: File, Prompt: "A file"}},
		{"CHOOSEf: A file", Field{Kind: File, Prompt: "A file"}},
		{"AskZ: From the future", Field{Kind: Line, Prompt: "From the future"}},
		{"no kind at all", Field{Kind: Note, Prompt: "no kind at all"}},
		{"", Field{Kind: Note}},
	} {
		if got := parseFields([]string{c.line}); len(got) != 1 || !reflect.DeepEqual(got[0], c.want) {
			t.Errorf("%q: got %+v, want %+v", c.line, got, c.want)
		}
	}
}

var survey = parseFields([]string{
	"Note: Hello", "Ask: Your name", "Ask: Your mail?\tnobody@localhost", "AskP: Password:", "AskL: Tale",
	"Select: Like\t1", "Choose: Colour\tred\tgreen", "ChooseF: File", "AskF: Save",
})

func TestFill(t *testing.T) {
	full := map[string]string{"1": "Alice", "password": "pw", "tale": "a\nb\n", "SAVE": "f"}
	but := func(name, value string) map[string]string {
		m := map[string]string{name: value}
		for k, v := range full {
			m[k] = v
		}
		return m
	}
	for _, c := range []struct {
		name    string
		answers map[string]string
		want    string // the data, or a class of error
	}{
		{"defaults for the rest", full, "Alice|nobody@localhost|pw|2|a|b|1|red|f"},
		{"by prompt, whatever stands at its end", but("your mail", "a@b"), "Alice|a@b|pw|2|a|b|1|red|f"},
		{"by number, notes and files not counted", but("6", "green"), "Alice|nobody@localhost|pw|2|a|b|1|green|f"},
		{"no to a box", but("like", "no"), "Alice|nobody@localhost|pw|2|a|b|0|red|f"},
		{"CR LF in a tale", map[string]string{"1": "", "3": "p", "4": "a\r\n\r\nb", "7": ""}, "|nobody@localhost|p|3|a||b|1|red|"},
		{"an empty tale", map[string]string{"1": "x", "3": "p", "4": "", "7": ""}, "x|nobody@localhost|p|1||1|red|"},
		{"lines that are dots", map[string]string{"1": ".", "3": "..", "4": ".\n.x\n..", "7": "..."}, "..|nobody@localhost|...|3|..|.x|...|1|red|...."},
		{"nothing for a field", nil, "need-query"},
		{"no such field", but("age", "7"), "usage"},
		{"a note has no answer", but("hello", "7"), "usage"},
		{"a file is never sent", but("file", "/etc/passwd"), "usage"},
		{"number 0", but("0", "x"), "usage"},
		{"a colour that is none", but("colour", "blue"), "usage"},
		{"neither yes nor no", but("like", "perhaps"), "usage"},
		{"a line with a line end", but("your mail", "a\r\n.\r\nQUIT"), "usage"},
		{"a tale with NUL", map[string]string{"1": "x", "3": "p", "4": "a\x00", "7": ""}, "usage"},
		{"a tale with CR", map[string]string{"1": "x", "3": "p", "4": "a\rb", "7": ""}, "usage"},
	} {
		got := fillAll(survey, c.answers, nil)
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func fillAll(f Form, answers map[string]string, prompt func(Field) (string, error)) string {
	filled, err := f.Fill(answers, prompt)
	var data *formData
	if err == nil {
		data, err = f.encode(filled)
	}
	if err != nil {
		return fetch.FaultOf(err).String()
	}
	text := strings.ReplaceAll(string(data.encode(false)), "\r\n", "|")
	return strings.TrimSuffix(strings.TrimPrefix(text, "+-1|"), "|.|")
}

// TestPrompt: who has answers at hand is not asked, and a note is never asked.
func TestPrompt(t *testing.T) {
	var asked []string
	got := fillAll(survey, map[string]string{"1": "Alice"}, func(f Field) (string, error) {
		asked = append(asked, f.Prompt)
		if f.Kind == Choice {
			return "green", nil
		}
		return f.Default, nil
	})
	if want := "Alice|nobody@localhost||1||1|green|"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if strings.Join(asked, ",") != "Your mail?,Password:,Tale,Like,Colour,Save" {
		t.Errorf("asked for %q", asked)
	}
	gone := errors.New("gone")
	if _, err := survey.Fill(nil, func(Field) (string, error) { return "", gone }); err != gone {
		t.Errorf("got %v", err)
	}
	twice := parseFields([]string{"Ask: Name", "Ask: name?"})
	if _, err := twice.Fill(map[string]string{"name": "x"}, nil); !errors.Is(err, fetch.Usage) {
		t.Errorf("two fields of one name: got %v", err)
	}
	if got := fillAll(twice, map[string]string{"1": "x", "2": "y"}, nil); got != "x|y" {
		t.Errorf("by number: got %s", got)
	}
}

func TestParseForm(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"1\r\n+-1\r\n.\r\n", ""},
		{"1\r\n+-1\r\na\r\n\r\n.\r\n", "a|"},
		{"1\r\n+-1\r\n..\r\n.\r\n", "."},
		{"1\r\n+-1\r\n.x\r\n...\r\n.\r\n", ".x|.."},
		{"1\r\n+-1\r\na\tb\r\n.\r\n", "a\tb"},
		{"", "bad"}, {"1", "bad"}, {"0", "bad"}, {"1\r\n", "bad"}, {"1\n+-1\n.\n", "bad"},
		{"1\r\n+-1\r\n", "bad"}, {"1\r\n+-1\r\na\r\n", "bad"}, {"1\r\n+-1\r\n.", "bad"},
		{"1\r\n+5\r\nhello", "bad"}, {"1\r\n+-2\r\na\r\n.\r\n", "bad"},
		{"1\r\n+-1\r\n.\r\nQUIT\r\n", "bad"}, {"1\r\n+-1\r\n.\r\n.\r\n", "bad"},
		{"1\r\n+-1\r\na\nb\r\n.\r\n", "bad"}, {"1\r\n+-1\r\na\rb\r\n.\r\n", "bad"}, {"1\r\n+-1\r\na\x00\r\n.\r\n", "bad"},
		{"HELO x\r\n+-1\r\na\r\n.\r\n", "bad"},
	} {
		got := "bad"
		if f, err := parseFormData(c.in); err == nil {
			got = strings.Join(f.values, "|")
		} else if !errors.Is(err, fetch.BadURL) {
			t.Errorf("%q: got %v", c.in, err)
		}
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}
