package rfc822

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/anyurl/fetch/fetch"
)

func TestReadHeader(t *testing.T) {
	long := strings.Repeat("x", MaxHeader)
	for name, c := range map[string]struct{ text, head string }{
		"CR LF":         {"a: 1\r\nb: 2\r\n\r\nbody\r\n\r\n", "a: 1\r\nb: 2\r\n\r\n"},
		"LF":            {"a: 1\n\nbody", "a: 1\n\n"},
		"mixed":         {"a: 1\n\r\nbody", "a: 1\n\r\n"},
		"no header":     {"\r\nbody", "\r\n"},
		"no header, LF": {"\nbody", "\n"},
		"no body":       {"a: 1\r\n\r\n", "a: 1\r\n\r\n"},
		"no empty line": {"a: 1\r\n", "a: 1\r\n"},
		"empty input":   {"", ""},
		"long":          {long + "\n\nbody", long},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text)), iotest.DataErrReader(strings.NewReader(c.text))} {
			head, rest := ReadHeader(r)
			body, err := io.ReadAll(rest)
			if string(head) != c.head || string(head)+string(body) != c.text || err != nil {
				t.Errorf("%s: got %.99q and %.99q, %v", name, head, body, err)
			}
		}
	}
	head, rest := ReadHeader(io.MultiReader(strings.NewReader("a: 1\n"), iotest.ErrReader(fetch.Timeout)))
	if _, err := rest.Read(make([]byte, 1)); string(head) != "a: 1\n" || !errors.Is(err, fetch.Timeout) {
		t.Errorf("failing: got %q, %v", head, err)
	}
}

func TestParseHeader(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\r\nB:2 \r\nc:\r\n": `[{"a" "1"} {"B" "2"} {"c" ""}]`,
		"a: 1\n 2\n\t 3\nb: 4":   `[{"a" "1 2 3"} {"b" "4"}]`,
		" folded\na: 1":          `[{"a" "1"}]`,
		"no field\n folded\na:b": `[{"a" "b"}]`,
		"a b: 1\n: 2\nc: 3":      `[{"c" "3"}]`,
		"a: 1\n\nb: 2":           `[{"a" "1"}]`,
		"a: 1\na: 2":             `[{"a" "1"} {"a" "2"}]`,
		"":                       `[]`,
		"a: :b:":                 `[{"a" ":b:"}]`,
	} {
		if got := fmt.Sprintf("%q", ParseHeader([]byte(text))); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	// Unfolding must take linear time.
	h := ParseHeader([]byte("a: 1\n" + strings.Repeat(" x\n", 1<<20)))
	if len(h) != 1 || len(h[0].Value) != len("1")+2<<20 {
		t.Errorf("got %d fields", len(h))
	}
}

func TestParseDate(t *testing.T) {
	for text, want := range map[string]string{
		"Fri, 20 Nov 2026 13:32:15 -0000 (UTC)": "2026-11-20T13:32:15Z",
		"Fri, 20 Nov 2026 14:32:15 +0100":       "2026-11-20T13:32:15Z",
		"20 Nov 2026 14:32 +0100":               "2026-11-20T13:32:00Z",
		"Fri, 20 Nov 98 13:32:15 GMT":           "1998-11-20T13:32:15Z",
		"Fri, 31 Dec 9999 23:59:00 -1200":       "0001-01-01T00:00:00Z", // the UTC time is in the year 10000
		"Sat, 01 Jan 0000 00:00:00 +1400":       "0001-01-01T00:00:00Z",
		"5 Dec 97 10:00 EST":                    "1997-12-05T15:00:00Z",
		"Fri, 5 Dec 1997 10:00:00 PDT (x)":      "1997-12-05T17:00:00Z",
		"Friday, 05-Dec-97 10:00:00 GMT":        "1997-12-05T10:00:00Z",
		"Friday, 5-Dec-97 10:00:00 CST":         "1997-12-05T16:00:00Z",
		"Fri Dec  5 10:00:00 1997":              "1997-12-05T10:00:00Z",
		"yesterday":                             "0001-01-01T00:00:00Z",
		"":                                      "0001-01-01T00:00:00Z",
	} {
		if got := ParseDate(text).Format("2006-01-02T15:04:05Z"); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

// FuzzHeader checks that header and remainder make up the message, and that
// ParseHeader terminates.
func FuzzHeader(f *testing.F) {
	f.Add("Subject: x\r\n folded\r\n\r\nbody")
	f.Add("\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		head, rest := ReadHeader(strings.NewReader(text))
		body, err := io.ReadAll(rest)
		if err != nil || string(head)+string(body) != text {
			t.Errorf("got %q and %q, %v", head, body, err)
		}
		ParseHeader(head)
	})
}
