package rfc822

import (
	"errors"
	"fmt"
	"io"
	"slices"
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

// readPart returns the content of a part and the warnings.
func readPart(p *Part) (string, error) {
	var notes string
	r, err := p.Body(func(format string, args ...any) { notes += " [" + fmt.Sprintf(format, args...) + "]" })
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(r)
	return string(body) + notes, err
}

func allParts(r io.Reader) (all []string, err error) {
	for r := newReader(r); ; {
		p, err := r.next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		body, err := readPart(p)
		if err != nil {
			return all, err
		}
		all = append(all, fmt.Sprintf("%s %s %q", p.Number, p.Media, body))
	}
}

func TestParts(t *testing.T) {
	want := []string{
		`1.1 text/plain "plain"`,
		`1.2 text/html; charset=utf-8 "<p>café here</p>"`,
		`2 image/gif; name="=?utf-8?q?=C3=A9.gif?=" "GIF89a\x01\x00\x01\x00 [ignoring invalid bytes in the base64 data]"`,
		`3 message/rfc822 "Subject: within\n\ntext"`,
		`4 text/plain "abc"`,
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
	if p, err := FindNumber(strings.NewReader(mixed), "2"); err != nil || !strings.HasPrefix(p.Media, "image/gif") {
		t.Errorf("got %+v, %v", p, err)
	}
	for _, encoding := range []string{"rot13", "x-uuencode"} { // of a part before the requested one
		changed := strings.Replace(mixed, "quoted-printable", encoding, 1)
		if p, err := FindNumber(strings.NewReader(changed), "2"); err != nil || !strings.HasPrefix(p.Media, "image/gif") {
			t.Errorf("after a part with encoding %s: got %+v, %v", encoding, p, err)
		}
	}
	for _, number := range []string{"5", "1", "0", "", "1.3", "2.1"} {
		if p, err := FindNumber(strings.NewReader(mixed), number); !errors.Is(err, fetch.NotFound) {
			t.Errorf("%s: got %+v, %v", number, p, err)
		}
	}
}

func TestPartEdgeCases(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		want  string
		fault fetch.Fault
	}{
		"plain":                 {"Subject: x\n\nbody\n", `1 text/plain "body\n"`, 0},
		"encoded":               {"Content-Transfer-Encoding: BASE64\nContent-Type: text/x\n\nYQ==\n", `1 text/x "a"`, 0},
		"no header":             {"\nbody", `1 text/plain "body"`, 0},
		"empty input":           {"", `1 text/plain ""`, 0},
		"broken type":           {"Content-Type: =\n\nx", `1 text/plain "x"`, 0},
		"no boundary":           {"Content-Type: multipart/mixed\n\nx", `1 multipart/mixed "x"`, 0},
		"unknown encoding":      {"Content-Transfer-Encoding: rot13\n\nx", "", fetch.Unsupported},
		"base64, a footer":      {"Content-Transfer-Encoding: base64\n\nYQ==\n--\nhttp://h/?list=x&a==\n", `1 text/plain "a [ignoring text after the base64 data]"`, 0},
		"base64 cut":            {"Content-Transfer-Encoding: base64\n\nYWJ\n", "", fetch.Truncated},
		"boundary absent":       {"Content-Type: multipart/mixed; boundary=b\n\nx\n", "", fetch.Truncated},
		"no last boundary":      {"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n", "", fetch.Truncated},
		"malformed part header": {"Content-Type: multipart/mixed; boundary=b\n\n--b\nno field\nContent-Type: a/b\n\nx\n--b--\n", `1 a/b "x"`, 0},
		"header without end":    {"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: a/b\n--b\n--b--\n", `1 a/b ""2 text/plain ""`, 0},
		"header too long":       {"a: " + strings.Repeat("x", MaxHeader) + "\n\n", "", fetch.TooLarge},
		"part header too long":  {"Content-Type: multipart/mixed; boundary=b\n\n--b\n" + strings.Repeat("a: b\n", MaxHeader/4) + "\n\n--b--\n", "", fetch.TooLarge},
		"boundary unquoted":     {"Content-Type: multipart/mixed; boundary=----=_Part:1\n\n------=_Part:1\n\nx\n------=_Part:1--\n", `1 text/plain "x"`, 0},
		"boundary repeated":     {"Content-Type: MULTIPART/mixed; boundary=b; Boundary=c\n\n--b\n\nx\n--b--\n", `1 text/plain "x"`, 0},
		"trailing blanks":       {"Content-Type: multipart/mixed; boundary=\"b \"\n\n--b \t\n\nx\n--b-- \n", `1 text/plain "x"`, 0},
		"like a boundary":       {"Content-Type: multipart/mixed; boundary=b\n\n--b\n\n--bb\n--b-\n --b\n--b--b\nx\n--b--\n", `1 text/plain "--bb\n--b-\n --b\n--b--b\nx"`, 0},
		"line endings":          {"Content-Type: multipart/mixed; boundary=b\r\n\n--b\n\r\nx\n\r\n--b\r\n\ny\n\n--b--", `1 text/plain "x\n"2 text/plain "y\n"`, 0},
		"inner not closed":      {"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/mixed; boundary=bb\n\n--bb\n\nx\n--b\n\ny\n--bb\n--b--\n", `1.1 text/plain "x"2 text/plain "y\n--bb"`, 0},
		"preamble and epilogue": {"Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("x", 2*bufferSize) + "\n--b\n\nx\n--b--\n--b\n\nepilogue\n--b--\n", `1 text/plain "x"`, 0},
		"digest":                {"Content-Type: multipart/digest; boundary=b\n\n--b\n\nSubject: x\n--b\nContent-Type: text/plain\n\ny\n--b--\n", `1 message/rfc822 "Subject: x"2 text/plain "y"`, 0},
		"nested too deeply":     {nest(maxDepth + 1), "", fetch.TooLarge},
		"many parts":            {"Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\n\n\n", maxParts+2) + "--b--\n", "", fetch.TooLarge},
	} {
		got, err := allParts(strings.NewReader(c.text))
		if fetch.FaultOf(err) != c.fault || c.fault == 0 && strings.Join(got, "") != c.want {
			t.Errorf("%s: got %.200q, %v, want %q, %v", name, got, err, c.want, c.fault)
		}
	}
}

// nest returns a message with multiparts nested to the given depth.
func nest(depth int) string {
	if depth == 0 {
		return "Subject: x\n\nx\n"
	}
	return fmt.Sprintf("Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n%s--b%d--\n", depth, depth, nest(depth-1), depth)
}

// TestReaderMemory tests that the reader buffers only a piece of a part without
// line breaks.
func TestReaderMemory(t *testing.T) {
	for _, encoding := range []string{"8bit", "base64", "quoted-printable"} {
		head := "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Transfer-Encoding: " + encoding + "\n\n"
		r := newReader(io.MultiReader(strings.NewReader(head), io.LimitReader(letterReader{}, 64<<20), strings.NewReader("\n--b--\n")))
		p, err := r.next()
		if err != nil {
			t.Fatal(err)
		}
		body, err := p.Body(t.Logf)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, body)
		if n < 48<<20 || err != nil || cap(r.text) > 4*bufferSize {
			t.Errorf("%s: got %d bytes, %v, buffer of %d", encoding, n, err, cap(r.text))
		}
	}
}

type letterReader struct{}

func (letterReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// FuzzParts checks that the parts do not depend on the size of reads, and that
// each error has a fault.
func FuzzParts(f *testing.F) {
	f.Add(mixed)
	f.Add("Content-Type: multipart/mixed; boundary=b\n\n--b\n\n--b--\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := allParts(strings.NewReader(text))
		again, err2 := allParts(iotest.OneByteReader(strings.NewReader(text)))
		if len(all) > maxParts || !slices.Equal(all, again) || fetch.FaultOf(err) != fetch.FaultOf(err2) || fetch.FaultOf(err) == fetch.Internal {
			t.Errorf("got %q, %v, read byte by byte %q, %v", all, err, again, err2)
		}
		if got, again := findAndRead(text, "1"), findAndRead(text, "1"); got != again || strings.HasSuffix(got, "internal") && !strings.Contains(text, "internal") {
			t.Errorf("got %q, then %q", got, again)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	for encoding, line := range map[string]string{
		"8bit":             strings.Repeat("8bit", 19),
		"base64":           strings.Repeat("YWJj", 19),
		"quoted-printable": strings.Repeat("caf=C3=A9 au lait ", 4) + "=",
	} {
		head := "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Transfer-Encoding: " + encoding + "\r\n\r\n"
		message := head + strings.Repeat(line+"\r\n", 10_000) + "--b--\r\n"
		b.Run(encoding, func(b *testing.B) {
			b.SetBytes(int64(len(message)))
			for b.Loop() {
				p, err := FindNumber(strings.NewReader(message), "1")
				if err == nil {
					_, err = readPart(p)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
