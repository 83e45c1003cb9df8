package attach

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/anyurl/fetch/fetch"
)

const mixed = `From: a@b
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="outer"

for those without MIME
--outer
Content-Type: multipart/alternative; boundary=inner

--inner

plain
--inner
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable

<p>caf=C3=A9 =
here</p>
--inner--
--outer
Content-Type: image/gif; name="=?utf-8?q?=C3=A9.gif?="
Content-Disposition: attachment; filename*=utf-8''%c3%a9%20x.gif
Content-Transfer-Encoding: base64

R0lGODlh
AQABAA!==
--outer
Content-Type: message/rfc822

Subject: within

text
--outer
Content-Transfer-Encoding: x-uuencode

begin 644 x
#86)C
` + "`" + `
end
--outer--
after
`

func allParts(r io.Reader) (all []string, err error) {
	for p, err := range Parts(r) {
		if err != nil {
			return all, err
		}
		body, err := io.ReadAll(p.Body)
		if err != nil {
			return all, err
		}
		all = append(all, fmt.Sprintf("%s %s %q %q", p.Number, p.Media, p.Name, body))
	}
	return all, nil
}

func TestParts(t *testing.T) {
	want := []string{
		`1.1 text/plain "" "plain"`,
		`1.2 text/html; charset=utf-8 "" "<p>café here</p>"`,
		`2 image/gif; name="=?utf-8?q?=C3=A9.gif?=" "é x.gif" "GIF89a\x01\x00\x01\x00"`,
		`3 message/rfc822 "" "Subject: within\n\ntext"`,
		`4 text/plain "" "abc"`,
	}
	for _, text := range []string{mixed, strings.ReplaceAll(mixed, "\n", "\r\n")} {
		got, err := allParts(iotest.OneByteReader(strings.NewReader(text)))
		if err != nil || len(got) != len(want) {
			t.Fatalf("got %q, %v", got, err)
		}
		for i := range want {
			if got := strings.ReplaceAll(got[i], `\r\n`, `\n`); got != want[i] {
				t.Errorf("got %s, want %s", got, want[i])
			}
		}
	}
	if p, err := Part(strings.NewReader(mixed), "2"); err != nil || p.Name != "é x.gif" {
		t.Errorf("got %+v, %v", p, err)
	}
	for _, encoding := range []string{"rot13", "x-uuencode"} { // of another part
		odd := strings.Replace(mixed, "quoted-printable", encoding, 1)
		if p, err := Part(strings.NewReader(odd), "2"); err != nil || p.Name != "é x.gif" {
			t.Errorf("behind a part of %s: got %+v, %v", encoding, p, err)
		}
	}
	for _, number := range []string{"5", "1", "0", "", "1.3", "2.1"} {
		if p, err := Part(strings.NewReader(mixed), number); !errors.Is(err, fetch.NotFound) {
			t.Errorf("%s: got %+v, %v", number, p, err)
		}
	}
}

func TestOnePart(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		want  string
		fault fetch.Fault
	}{
		"plain":             {"Subject: x\n\nbody\n", `1 text/plain "" "body\n"`, 0},
		"encoded":           {"Content-Transfer-Encoding: BASE64\nContent-Type: text/x\n\nYQ==\n", `1 text/x "" "a"`, 0},
		"no head":           {"\nbody", `1 text/plain "" "body"`, 0},
		"nothing":           {"", `1 text/plain "" ""`, 0},
		"broken type":       {"Content-Type: =\n\nx", `1 text/plain "" "x"`, 0},
		"no boundary":       {"Content-Type: multipart/mixed\n\nx", `1 multipart/mixed "" "x"`, 0},
		"unknown encoding":  {"Content-Transfer-Encoding: rot13\n\nx", "", fetch.Unsupported},
		"base64, a footer":  {"Content-Transfer-Encoding: base64\n\nYQ==\n--\nhttp://h/?list=x&a==\n", `1 text/plain "" "a"`, 0},
		"base64 cut":        {"Content-Transfer-Encoding: base64\n\nYWJ\n", "", fetch.Truncated},
		"never a boundary":  {"Content-Type: multipart/mixed; boundary=b\n\nx\n", "", fetch.Truncated},
		"no last boundary":  {"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n", "", fetch.Truncated},
		"head of a part":    {"Content-Type: multipart/mixed; boundary=b\n\n--b\nno field\n\nx\n--b--\n", "", fetch.Protocol},
		"parts within part": {nest(maxDepth + 1), "", fetch.TooLarge},
		"many parts":        {"Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\n\n\n", maxParts+2) + "--b--\n", "", fetch.TooLarge},
	} {
		got, err := allParts(strings.NewReader(c.text))
		if fetch.FaultOf(err) != c.fault || c.fault == 0 && strings.Join(got, "") != c.want {
			t.Errorf("%s: got %.200q, %v, want %q, %v", name, got, err, c.want, c.fault)
		}
	}
}

// nest is a message of parts within parts.
func nest(depth int) string {
	if depth == 0 {
		return "Subject: x\n\nx\n"
	}
	return fmt.Sprintf("Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n%s--b%d--\n", depth, depth, nest(depth-1), depth)
}

// FuzzParts: whatever a message holds, reading its parts ends.
func FuzzParts(f *testing.F) {
	f.Add(mixed)
	f.Add("Content-Type: multipart/mixed; boundary=b\n\n--b\n\n--b--\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := allParts(strings.NewReader(text))
		if err == nil && len(all) > maxParts {
			t.Errorf("%d parts", len(all))
		}
	})
}
