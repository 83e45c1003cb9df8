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

// findAndRead returns the media type, the content and the warnings of a part,
// or the fault.
func findAndRead(message, id string) string {
	p, err := FindID(iotest.HalfReader(strings.NewReader(message)), id)
	if err != nil {
		return fetch.FaultOf(err).String()
	}
	got, err := readPart(p)
	if err != nil {
		got += " " + fetch.FaultOf(err).String()
	}
	return p.Media + ": " + got
}

func TestFindID(t *testing.T) {
	multi := func(kind string, parts ...string) string {
		return "Content-Type: multipart/" + kind + "; boundary=" + kind + "\r\n\r\npreamble\r\n--" + kind + "\r\n" + strings.Join(parts, "\r\n--"+kind+"\r\n") + "\r\n--" + kind + "--\r\nepilogue\r\n"
	}
	one := func(fields, body string) string { return "Content-ID: <1@x>\r\n" + fields + "\r\n" + body }
	large := strings.Repeat("x", maxBuffered)
	footer := " [ignoring text after the base64 data]"
	for _, test := range []struct{ name, message, want string }{
		{"no transfer encoding", multi("related", "\r\nroot", one("Content-Type: image/gif\r\n", "GIF")), "image/gif: GIF"},
		{"without a type", multi("related", one("", "text")), "text/plain: text"},
		{"base64", multi("related", one("Content-Transfer-Encoding: BASE64\r\nContent-Type: a/b\r\n", "aGVs\r\n bG8=\r\n")), "a/b: hello"},
		{"truncated base64", multi("related", one("Content-Transfer-Encoding: base64\r\n", "aGVsb")), "text/plain: hel truncated"},
		{"base64 with invalid bytes", multi("related", one("Content-Transfer-Encoding: base64\r\n", "aG!Vs\r\n> bG8=")), "text/plain: hello [ignoring invalid bytes in the base64 data]"},
		{"base64 with invalid padding", multi("related", one("Content-Transfer-Encoding: base64\r\n", "YQ=bYWJj")), "text/plain:  protocol"},
		{"base64 with superfluous padding", multi("related", one("Content-Transfer-Encoding: base64\r\n", "YWJj=\r\n")), "text/plain: abc"},
		{"base64 data after padding", multi("related", one("Content-Transfer-Encoding: base64\r\n", "aGVsbG8=\r\nbmNv")), "text/plain: hello" + footer},
		{"base64 and a footer", multi("related", one("Content-Transfer-Encoding: base64\r\n", "aGVsbG8=\r\n_____\r\nlist http://l/?a=b&c==\r\n")), "text/plain: hello" + footer},
		{"base64 without padding and a footer", multi("related", one("Content-Transfer-Encoding: base64\r\n", "YWJj\r\n_____\r\nlist AAAA\r\n")), "text/plain: abc" + footer},
		{"base64 without padding and a paragraph", multi("related", one("Content-Transfer-Encoding: base64\r\n", "YWJj\r\n\r\nto unsubscribe\r\n")), "text/plain: abc" + footer},
		{"base64 with empty lines", multi("related", one("Content-Transfer-Encoding: base64\r\n", "\r\nYWJj\r\n\r\nYW\r\n\r\nJj")), "text/plain: abcabc"},
		{"base64 in one line", multi("related", one("Content-Transfer-Encoding: base64\r\n", strings.Repeat("YWJj", bufferSize)+"YQ==")), "text/plain: " + strings.Repeat("abc", bufferSize) + "a"},
		{"base64 in one line, split unevenly", multi("related", one("Content-Transfer-Encoding: base64\r\n", " "+strings.Repeat("YWJj", bufferSize)+"YQ==")), "text/plain: " + strings.Repeat("abc", bufferSize) + "a"},
		{"quoted-printable", multi("related", one("Content-Transfer-Encoding: quoted-printable\r\n", "caf=C3=A9 =\r\nau lait")), "text/plain: café au lait"},
		{"quoted-printable, line endings", multi("related", one("Content-Transfer-Encoding: quoted-printable\r\n", "a \t\r\nb= \r\nc\n=\r\n=3d=\r\n")), "text/plain: a\r\nbc\n="},
		{"quoted-printable, invalid escapes", multi("related", one("Content-Transfer-Encoding: quoted-printable\r\n", "a=b =4 =zz\x00\x1b\xff=")), "text/plain: a=b =4 =zz\x00\x1b\xff"},
		{"quoted-printable, a long line", multi("related", one("Content-Transfer-Encoding: quoted-printable\r\n", strings.Repeat("=41", bufferSize)+"b"+strings.Repeat("=4a", bufferSize))), "text/plain: " + strings.Repeat("A", bufferSize) + "b" + strings.Repeat("J", bufferSize)},
		{"uuencode", multi("related", one("Content-Transfer-Encoding: x-uuencode\r\n", "begin 644 x\r\n#86)C\r\n`\r\nend\r\n")), "text/plain: abc"},
		{"8bit", multi("related", one("Content-Transfer-Encoding: 8bit\r\n", "caf\xe9")), "text/plain: caf\xe9"},
		{"unknown encoding", multi("related", one("Content-Transfer-Encoding: x-rot13\r\n", "uryyb")), "text/plain:  unsupported"},
		{"folded id", multi("related", "Content-ID:\r\n <1@x>\r\n\r\nfolded"), "text/plain: folded"},
		{"an id without brackets", multi("related", "content-id: 1@x\r\n\r\nbare"), "text/plain: bare"},
		{"nested multipart", multi("mixed", multi("related", "\r\na", one("", "deep"))), "text/plain: deep"},
		{"the message itself", one("Content-Type: text/html\r\n", "<p>"), "text/html: <p>"},
		{"multipart with the id", "Content-ID: <1@x>\r\n" + multi("related", "\r\na"), "multipart/related; boundary=related: preamble\r\n--related\r\n\r\na\r\n--related--\r\nepilogue\r\n"},
		{"the first of two", multi("mixed", one("", "first"), one("", "second")), "text/plain: first"},
		{"two alternatives", multi("alternative", one("", "plain"), one("Content-Type: text/html\r\n", "<b>rich"), "\r\nother"), "text/html: <b>rich"},
		{"alternative in a multipart", multi("alternative", one("", "plain"), multi("related", one("", "rich"), "\r\nother")), "text/plain: rich"},
		{"two multipart/alternative", multi("mixed", "Content-Type: multipart/alternative; boundary=x\r\n\r\n--x\r\n"+one("", "1")+"\r\n--x--\r\n", "Content-Type: multipart/alternative; boundary=y\r\n\r\n--y\r\n"+one("", "2")+"\r\n--y--\r\n"), "text/plain: 1"},
		{"large alternative first", multi("alternative", one("", large), one("", "second")), "text/plain: " + large},
		{"absent", multi("mixed", "\r\na", "Content-ID: <2@x>\r\n\r\nb"), "not-found"},
		{"in an attached message", multi("mixed", "Content-Type: message/rfc822\r\n\r\n"+one("", "inner")), "not-found"},
		{"not a multipart", "Content-Type: text/plain\r\n\r\nContent-ID: <1@x>\r\n", "not-found"},
		{"no boundary", "Content-Type: multipart/mixed\r\n\r\n--\r\n", "not-found"},
		{"truncated in the part", strings.TrimSuffix(multi("related", one("", "all")), "\r\n--related--\r\nepilogue\r\n"), "text/plain: all truncated"},
		{"truncated before the part", "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\na", "truncated"},
		{"multipart without parts", "Content-Type: multipart/mixed; boundary=b\r\n\r\nno part\r\n", "truncated"},
	} {
		if got := findAndRead(test.message, "1@x"); got != test.want {
			t.Errorf("%s: got %.200q, want %.200q", test.name, got, test.want)
		}
	}
	deep := one("", "at last")
	for i := range maxDepth + 1 {
		deep = multi(fmt.Sprintf("level-%02d", i), deep)
	}
	if got := findAndRead(deep, "1@x"); got != "too-large" {
		t.Errorf("nested too deeply: got %s", got)
	}
	broken := errors.New("broken")
	p, err := FindID(io.MultiReader(strings.NewReader(one("", "text")), iotest.ErrReader(fetch.Timeout.With(broken))), "1@x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readPart(p); !errors.Is(err, broken) || fetch.FaultOf(err) != fetch.Timeout {
		t.Errorf("failing reader: got %v", err)
	}
}
