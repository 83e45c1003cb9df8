package transcript

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/schemes/ftp"
	"github.com/anyurl/fetch/schemes/nntp"
)

// right is a transcript that passes.
const right = `Two requests on one connection.
-- options --
{"ClearPassword": true}
-- policy --
{"MaxBody": 100}
-- login --
alice:s3cret
-- request --
nntp://192.0.2.1/g/1
nntp://192.0.2.1/g/2 stat
nntp://192.0.2.1/g/3
nntp://192.0.2.1/g/4
-- talk --
= plain
> GROUP g
> ARTICLE 1
< 211 4 1 4 g
< 480 login
> AUTHINFO USER alice
< 381 go on
> AUTHINFO PASS s3cret
< 281 welcome
> CAPABILITIES
< 500 what?
> GROUP g
< 211 4 1 4 g
> ARTICLE 1
< 220 1 <1@h>
< x
< .
> GROUP g
< 211 4 1 4 g
> HEAD 2
< 221 2 <2@h>
< Subject: two
< .
> GROUP g
< 211 4 1 4 g
> ARTICLE 3
< 423 none
> GROUP g
< 211 4 1 4 g
> ARTICLE 4
< 220 4 <4@h>
< "0123456789"*20
< .
-- result --
document message/rfc822 "x\r\n"
document message/rfc822 "" header=[{"Subject" "two"}]
error not-found 423
document message/rfc822 "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789" error too-large: body larger than the limit of 100 bytes
-- notes --
the password was sent in plaintext
`

var (
	news  = Kit{Port: 119, Schemes: SchemesOf(nntp.Schemes), Goodbye: "QUIT\r\n", Phrases: map[string]string{"plain": "< 200 ready\n> CAPABILITIES\n< 101 \n< VERSION 2\n< READER\n< ."}}
	files = Kit{Port: 21, Schemes: SchemesOf(ftp.Schemes), Goodbye: "QUIT\r\n"}
)

func (k Kit) differences(t *testing.T, text string) (errs []error) {
	t.Helper()
	talk := Talk{Phrases: k.Phrases, Certs: faultnet.NewCerts(t, Server)}
	synctest.Test(t, func(t *testing.T) { errs = k.replay(t, txtar.Parse([]byte(text)), talk) })
	return errs
}

// TestDifferences changes a transcript that passes: each change is reported.
func TestDifferences(t *testing.T) {
	if errs := news.differences(t, right); len(errs) > 0 {
		t.Fatalf("the transcript itself: %v", errs)
	}
	for _, test := range []struct{ name, old, new, want string }{
		{"body", "< x", "< y", `got document message/rfc822 "y\r\n"`},
		{"kind", `document message/rfc822 "x`, `menu message/rfc822 "x`, `got document`},
		{"media type", "message/rfc822 \"x", "text/plain \"x", "want document text/plain"},
		{"head field", "Subject: two", "Subject: one", `"one"`},
		{"code", "423 none", "430 none", "got error not-found 430"},
		{"fault", "error not-found 423", "error protocol 423", "got error not-found"},
		{"cause", "limit of 100", "limit of 99", "limit of 99 bytes"},
		{"option", "100 bytes\n", "100 bytes (--force)\n", "(--force)"},
		{"error that did not happen", "\"x\\r\\n\"\n", "\"x\\r\\n\" error truncated\n", "want"},
		{"result that is missing", "error not-found 423\n", "", "got error not-found"},
		{"result too many", "-- notes --", "error tls\n-- notes --", "1 results without a request"},
		{"note", "the password was sent in plaintext\n", "", "notes\n got the password"},
		{"note that did not come", "plaintext\n", "plaintext\nmore\n", "want the password was sent in plaintext\nmore"},
		{"line of the client", "> ARTICLE 1\n< 220", "> ARTICLE 01\n< 220", `got "ARTICLE 1\r\n", want "ARTICLE 01\r\n"`},
		{"line that the client does not send", "*20\n< .\n", "*20\n< .\n> DATE\n", `client ended, want "DATE\r\n"`},
		{"line too many of the client", "> ARTICLE 3\n", "", `sent `},
		{"connection too many", "-- result --", "-- talk 2 --\n< 200 ready\n-- result --", "port 119: 1 connections, want 2"},
		{"other port", "-- talk --", "-- talk :563 --", "got error connect"},
		{"password", "alice:s3cret", "alice:secret", `PASS secret`},
		{"policy", `"MaxBody": 100`, `"MaxBody": 1000`, `89" error too-large`},
		{"option of the scheme", `{"ClearPassword": true}`, "{}", "got error auth"},

		{"unknown option", "ClearPassword", "ClearPasswords", "section options: json: unknown field"},
		{"unknown section", "-- notes --", "-- note --", "section note: there is no such section"},
		{"section twice", "-- notes --", "-- result --\nx\n-- notes --", "section result: it is there twice"},
		{"no request", "-- request --", "-- talk 0 --", "section talk 0: line"},
		{"unknown condition", "g/2 stat", "g/2 status", "condition status: there is no such condition"},
		{"unknown phrase", "= plain", "= simple", `section talk: "simple" is neither a phrase nor a verb`},
		{"port that is none", "-- talk --", "-- talk :x --", `section talk :x: strconv`},
		{"request without URL", "nntp://192.0.2.1/g/3\n", "\n", "a request has no URL"},
	} {
		text := strings.Replace(right, test.old, test.new, 1)
		if text == right {
			t.Fatalf("%s: nothing was changed", test.name)
		}
		if got := errors.Join(news.differences(t, text)...); got == nil || !strings.Contains(got.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.name, got, test.want)
		}
	}
	if errs := news.differences(t, "-- talk --\n< 200 ready\n"); len(errs) != 1 || errs[0].Error() != "there is no section request" {
		t.Errorf("no request: got %v", errs)
	}
}

// dataTransfer is a transcript with data connections.
const dataTransfer = `A port that refuses the first connection.
-- request --
ftp://192.0.2.1/
ftp://192.0.2.1/
-- talk --
< 220 ready
> USER anonymous
< 230 in
> FEAT
< 502 what?
> PWD
< 257 "/"
> TYPE A
< 200 ok
> EPSV
< 229 Entering Extended Passive Mode (|||40000|)
> PASV
< 227 =192,0,2,1,156,64
> LIST
< 150 here
< 226 done
> PASV
< 227 =192,0,2,1,156,64
> LIST
< 150 here
< 226 done
-- data 40000 --
= refuse
-- data 40000 again --
< a
-- result --
menu text/x-ftp-list; at=20000101000000; dialect=list "a\r\n"
menu text/x-ftp-list; at=20000101000000; dialect=list "a\r\n"
-- notes --
EPSV failed to open a data connection: dial tcp 192.0.2.1:40000: connect: connection refused
`

func TestDataSections(t *testing.T) {
	if errs := files.differences(t, dataTransfer); len(errs) > 0 {
		t.Errorf("got %v", errs)
	}
	for name, change := range map[string][2]string{
		"body":                 {"< a", "< b"},
		"line of the client":   {"< a", "> STOR a\n< a"},
		"no refusal":           {"= refuse", "= fin"},
		"data at another port": {"data 40000 again", "data 40001 again"},
		"refused talk":         {"< 220 ready", "= refuse"},
	} {
		if errs := files.differences(t, strings.Replace(dataTransfer, change[0], change[1], 1)); len(errs) == 0 {
			t.Errorf("%s: no difference", name)
		}
	}
}

func TestConditions(t *testing.T) {
	for _, test := range []struct{ words, want string }{
		{"range=1:3", "1 3"}, {"range=-5:", "-5 0"}, {"range=5", "error"}, {"range=a:", "error"}, {"range=1:b", "error"},
		{"since=2000-01-01", "error"}, {"before=now", "error"}, {"", "error"}, {"stat range=x", "error"},
	} {
		req := &fetch.Request{}
		_, err := parseConditions(req, strings.Split(test.words, " "))
		got := fmt.Sprint(req.Range.First, req.Range.End)
		if err != nil {
			got = "error"
		}
		if got != test.want {
			t.Errorf("%s: got %s, %v, want %s", test.words, got, err, test.want)
		}
	}
	req := &fetch.Request{}
	list, err := parseConditions(req, strings.Fields("stat list nofollow if-same=a if-not=b=c since=2000-01-01T00:00:00Z before=2001-01-01T00:00:00+01:00 token=t"))
	if err != nil || !list || req.Op != fetch.Stat || !req.NoFollow || req.IfSame != "a" || req.IfNot != "b=c" || req.Since.Year() != 2000 ||
		req.Before.UTC().Year() != 2000 || req.Auth.User != "bob" || req.Auth.Token != "t" {
		t.Errorf("got %+v, %v, %v", req, list, err)
	}
}

// TestLongBody shows a long body by its length and digest.
func TestLongBody(t *testing.T) {
	for _, test := range []struct {
		size int
		want string
	}{
		{maxBody, `"` + strings.Repeat("x", maxBody) + `"`},
		{maxBody + 1, "1001 bytes cbe4a2e86e808c9b51174c17d56b401791a6282036247a95c3fb2098f098ff79"},
	} {
		got, err := bodyOf(&fetch.Response{Body: io.NopCloser(strings.NewReader(strings.Repeat("x", test.size)))})
		if got != test.want || err != nil {
			t.Errorf("%d bytes: got %s, %v", test.size, got, err)
		}
	}
}

// TestSaid returns the lines of the server, in the order of the files.
func TestSaid(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := names(); err == nil {
		t.Error("an empty folder is not an error")
	}
	if err := errors.Join(os.Mkdir("testdata", 0o700), os.WriteFile("testdata/a.txtar", []byte(dataTransfer), 0o600),
		os.WriteFile("testdata/b.txtar", []byte("-- request --\nftp://192.0.2.1/\n-- talk --\n< 1\n> 2\n= fin\n-- talk :22 --\n<< \"3\"*2\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if got := files.ServerTexts(t); len(got) != 3 || !strings.HasPrefix(got[0], "220 ready\r\n230 in\r\n") || !slices.Equal(got[1:], []string{"1\r\n", "33"}) {
		t.Errorf("got %q", got)
	}
}
