package mail

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/mailstore"
)

// wanted is what a message has under an id: its type and its bytes, or what
// class of error.
func wanted(message, id string) string {
	head, rest := mailstore.ReadHead(strings.NewReader(message))
	p, err := findPart(mailstore.ParseHead(head), iotest.HalfReader(rest), id)
	if err != nil {
		return fetch.FaultOf(err).String()
	}
	b, err := io.ReadAll(p)
	if err != nil {
		return p.media + ": " + string(b) + " " + fetch.FaultOf(err).String()
	}
	return p.media + ": " + string(b)
}

func TestFindPart(t *testing.T) {
	multi := func(kind string, parts ...string) string {
		return "Content-Type: multipart/" + kind + "; boundary=" + kind + "\r\n\r\npreamble\r\n--" + kind + "\r\n" + strings.Join(parts, "\r\n--"+kind+"\r\n") + "\r\n--" + kind + "--\r\nepilogue\r\n"
	}
	one := func(fields, body string) string { return "Content-ID: <1@x>\r\n" + fields + "\r\n" + body }
	large := strings.Repeat("x", maxHeld)
	for _, test := range []struct{ name, message, want string }{
		{"as it is", multi("related", "\r\nroot", one("Content-Type: image/gif\r\n", "GIF")), "image/gif: GIF"},
		{"without a type", multi("related", one("", "text")), "text/plain: text"},
		{"base64", multi("related", one("Content-Transfer-Encoding: BASE64\r\nContent-Type: a/b\r\n", "aGVs\r\n bG8=\r\n")), "a/b: hello"},
		{"base64 that is cut", multi("related", one("Content-Transfer-Encoding: base64\r\n", "aGVsb")), "text/plain: hel truncated"},
		{"base64 that is none", multi("related", one("Content-Transfer-Encoding: base64\r\n", "aGV!bG8=")), "text/plain:  protocol"},
		{"base64 that goes on", multi("related", one("Content-Transfer-Encoding: base64\r\n", "aGVsbG8=\r\nbmNv")), "text/plain: hello protocol"},
		{"quoted-printable", multi("related", one("Content-Transfer-Encoding: quoted-printable\r\n", "caf=C3=A9 =\r\nau lait")), "text/plain: café au lait"},
		{"eight bits", multi("related", one("Content-Transfer-Encoding: 8bit\r\n", "caf\xe9")), "text/plain: caf\xe9"},
		{"an encoding of nobody's", multi("related", one("Content-Transfer-Encoding: x-rot13\r\n", "uryyb")), "unsupported"},
		{"a folded id", multi("related", "Content-ID:\r\n <1@x>\r\n\r\nfolded"), "text/plain: folded"},
		{"an id without brackets", multi("related", "content-id: 1@x\r\n\r\nbare"), "text/plain: bare"},
		{"within a part", multi("mixed", multi("related", "\r\na", one("", "deep"))), "text/plain: deep"},
		{"the message itself", one("Content-Type: text/html\r\n", "<p>"), "text/html: <p>"},
		{"a part of parts", "Content-ID: <1@x>\r\n" + multi("related", "\r\na"), "multipart/related; boundary=related: preamble\r\n--related\r\n\r\na\r\n--related--\r\nepilogue\r\n"},
		{"the first of two", multi("mixed", one("", "first"), one("", "second")), "text/plain: first"},
		{"the best of two", multi("alternative", one("", "plain"), one("Content-Type: text/html\r\n", "<b>rich"), "\r\nother"), "text/html: <b>rich"},
		{"a large one in front", multi("alternative", one("", large), one("", "second")), "text/plain: " + large},
		{"absent", multi("mixed", "\r\na", "Content-ID: <2@x>\r\n\r\nb"), "not-found"},
		{"in a message of its own", multi("mixed", "Content-Type: message/rfc822\r\n\r\n"+one("", "inner")), "not-found"},
		{"not a multipart", "Content-Type: text/plain\r\n\r\nContent-ID: <1@x>\r\n", "not-found"},
		{"no boundary", "Content-Type: multipart/mixed\r\n\r\n--\r\n", "not-found"},
		{"cut in the part", strings.TrimSuffix(multi("related", one("", "all")), "\r\n--related--\r\nepilogue\r\n"), "text/plain: all truncated"},
		{"cut before", "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\na", "truncated"},
		{"without a part", "Content-Type: multipart/mixed; boundary=b\r\n\r\nno part\r\n", "truncated"},
	} {
		if got := wanted(test.message, "1@x"); got != test.want {
			t.Errorf("%s: got %.200q, want %.200q", test.name, got, test.want)
		}
	}
	deep := one("", "at last")
	for i := range maxDepth + 1 {
		deep = multi(fmt.Sprintf("level-%02d", i), deep)
	}
	if got := wanted(deep, "1@x"); got != "protocol" {
		t.Errorf("very deep: got %s", got)
	}
	broken := errors.New("broken")
	p, err := findPart(fetch.Header{{Name: "Content-ID", Value: "<1@x>"}}, iotest.ErrReader(fetch.Timeout.With(broken)), "1@x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(p); !errors.Is(err, broken) || fetch.FaultOf(err) != fetch.Timeout {
		t.Errorf("of a source that breaks: got %v", err)
	}
}
