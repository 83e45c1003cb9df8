package askform

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/uri"
)

func TestAttributes(t *testing.T) {
	for name, c := range map[string][2]string{
		"item of a menu":        {"gopher://h/0/ask%09%09?", "gopher://h/0/ask%09%09!"},
		"escaped question mark": {"gophers://h:71/0ask%09%09%3F", "gophers://h:71/0ask%09%09!"},
		"no command":            {"gopher://h/0/ask", ""},
		"other command":         {"gopher://h/0/ask%09%09+", ""},
		"root":                  {"gopher://h/%09%09?", ""},
		"other scheme":          {"http://h/0/ask%09%09?", ""},
		"query":                 {"gopher://h/7/ask?words", ""},
	} {
		got, ok := Attributes(uri.MustParse(c[0]))
		if ok != (c[1] != "") || got.String() != c[1] {
			t.Errorf("%s: %s, %v", name, got, ok)
		}
	}
}

func TestURL(t *testing.T) {
	form := Parse([]string{"Ask: Name", "AskL: Text"})
	data, err := form.Encode([]string{"a b%\té", ".\nx"})
	if err != nil {
		t.Fatal(err)
	}
	u, ok := data.URL(uri.MustParse("gopher://h/0/ask%09%09?"))
	want := "gopher://h/0/ask%09%09+%091%0D%0A+-1%0D%0Aa%20b%25%09%C3%A9%0D%0A2%0D%0A..%0D%0Ax%0D%0A.%0D%0A"
	if !ok || u.String() != want {
		t.Fatalf("got %s, want %s", u, want)
	}
	path, _ := uri.Unescape(u.Path())
	parsed, err := ParseData(path[strings.Index(path, "1\r\n"):])
	if err != nil || strings.Join(parsed.values, "|") != "a b%\té|2|.|x" {
		t.Errorf("parsed %v, %v", parsed, err)
	}
}
