package askform

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
		{"Select: I like it:1", Field{Kind: Check, Prompt: "I like it", Default: "1"}}, // same format as in the UMN client
		{"Select: Really: yes\t0", Field{Kind: Check, Prompt: "Really: yes", Default: "0"}},
		{"Choose: Colour\tred\tgreen", Field{Kind: Choice, Prompt: "Colour", Default: "red", Choices: []string{"red", "green"}}},
		{"ChooseF: A file", Field{Kind: File, Prompt: "A file"}},
		{"CHOOSEf: A file", Field{Kind: File, Prompt: "A file"}},
		{"AskZ: From the future", Field{Kind: Line, Prompt: "From the future"}},
		{"no kind at all", Field{Kind: Note, Prompt: "no kind at all"}},
		{"", Field{Kind: Note}},
	} {
		if got := Parse([]string{c.line}); len(got) != 1 || !reflect.DeepEqual(got[0], c.want) {
			t.Errorf("%q: got %+v, want %+v", c.line, got, c.want)
		}
	}
}

var survey = Parse([]string{
	"Note: Hello", "Ask: Your name", "Ask: Your mail?\tnobody@localhost", "AskP: Password:", "AskL: Tale",
	"Select: Like\t1", "Choose: Colour\tred\tgreen", "ChooseF: File", "AskF: Save",
})

func TestFill(t *testing.T) {
	full := map[string]string{"1": "Alice", "password": "pw", "tale": "a\nb\n", "SAVE": "f"}
	fullWith := func(name, value string) map[string]string {
		m := map[string]string{name: value}
		for k, v := range full {
			m[k] = v
		}
		return m
	}
	for _, c := range []struct {
		name    string
		answers map[string]string
		want    string // form data, or a fault
	}{
		{"defaults for the other fields", full, "Alice|nobody@localhost|pw|2|a|b|1|red|f"},
		{"field by prompt without the final punctuation", fullWith("your mail", "a@b"), "Alice|a@b|pw|2|a|b|1|red|f"},
		{"field by number, not counting notes and files", fullWith("6", "green"), "Alice|nobody@localhost|pw|2|a|b|1|green|f"},
		{"check box answered with no", fullWith("like", "no"), "Alice|nobody@localhost|pw|2|a|b|0|red|f"},
		{"CR LF in a text field", map[string]string{"1": "", "3": "p", "4": "a\r\n\r\nb", "7": ""}, "|nobody@localhost|p|3|a||b|1|red|"},
		{"empty text field", map[string]string{"1": "x", "3": "p", "4": "", "7": ""}, "x|nobody@localhost|p|1||1|red|"},
		{"lines of dots", map[string]string{"1": ".", "3": "..", "4": ".\n.x\n..", "7": "..."}, "..|nobody@localhost|...|3|..|.x|...|1|red|...."},
		{"field without answer and default", nil, "need-query"},
		{"unknown field", fullWith("age", "7"), "usage"},
		{"answer to a note", fullWith("hello", "7"), "usage"},
		{"answer to a file field", fullWith("file", "/etc/passwd"), "usage"},
		{"field number 0", fullWith("0", "x"), "usage"},
		{"value that is not a choice", fullWith("colour", "blue"), "usage"},
		{"check box answered with another word", fullWith("like", "perhaps"), "usage"},
		{"line end in a line field", fullWith("your mail", "a\r\n.\r\nQUIT"), "usage"},
		{"NUL in a text field", map[string]string{"1": "x", "3": "p", "4": "a\x00", "7": ""}, "usage"},
		{"CR in a text field", map[string]string{"1": "x", "3": "p", "4": "a\rb", "7": ""}, "usage"},
	} {
		got := fillAll(survey, c.answers, nil)
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func fillAll(f Form, answers map[string]string, prompt func(Field) (string, error)) string {
	filled, err := f.Fill(answers, prompt)
	var data *Data
	if err == nil {
		data, err = f.Encode(filled)
	}
	if err != nil {
		return fetch.FaultOf(err).String()
	}
	text := strings.ReplaceAll(string(data.Encode(false)), "\r\n", "|")
	return strings.TrimSuffix(strings.TrimPrefix(text, "+-1|"), "|.|")
}

// TestPrompt checks that the prompt function is not called for notes and for
// fields with a given answer.
func TestPrompt(t *testing.T) {
	var prompted []string
	got := fillAll(survey, map[string]string{"1": "Alice"}, func(f Field) (string, error) {
		prompted = append(prompted, f.Prompt)
		if f.Kind == Choice {
			return "green", nil
		}
		return f.Default, nil
	})
	if want := "Alice|nobody@localhost||1||1|green|"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if strings.Join(prompted, ",") != "Your mail?,Password:,Tale,Like,Colour,Save" {
		t.Errorf("prompted for %q", prompted)
	}
	canceled := errors.New("canceled")
	if _, err := survey.Fill(nil, func(Field) (string, error) { return "", canceled }); err != canceled {
		t.Errorf("got %v", err)
	}
	duplicate := Parse([]string{"Ask: Name", "Ask: name?"})
	if _, err := duplicate.Fill(map[string]string{"name": "x"}, nil); !errors.Is(err, fetch.Usage) {
		t.Errorf("two fields with the same name: got %v", err)
	}
	if got := fillAll(duplicate, map[string]string{"1": "x", "2": "y"}, nil); got != "x|y" {
		t.Errorf("by number: got %s", got)
	}
}

func TestParseFormData(t *testing.T) {
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
		if f, err := ParseData(c.in); err == nil {
			got = strings.Join(f.values, "|")
		} else if !errors.Is(err, fetch.BadURL) {
			t.Errorf("%q: got %v", c.in, err)
		}
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}
