package netrc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var record = flag.Bool("record", false, "record testdata/curl.jsonl again with the installed curl")

const cases = "testdata/curl.jsonl"

// A curlCase is a line of testdata/curl.jsonl. Curl has the Basic credentials
// that curl 7.88.1 (Debian 12) sends with --netrc-optional to a server on
// loopback. It is "none" for no credentials and "error" for exit code 26.
type curlCase struct {
	Name  string `json:"name"`
	Netrc string `json:"netrc"`
	Host  string `json:"host"`
	User  string `json:"user"`
	Curl  string `json:"curl"`
}

// differences has the cases in which the package differs from curl 7.88.1.
var differences = map[string]struct{ want, why string }{
	"hash in password":              {"u:#p", "as in curl 8: only the first word of a line starts a comment"},
	"trailing dot in url":           {"u:p", "one trailing dot is ignored"},
	"trailing dot in file":          {"u:p", "one trailing dot is ignored"},
	"login matches none":            {"none", "as in curl 8: the password of another login is not used"},
	"login case":                    {"none", "as in curl 8: logins are case-sensitive"},
	"default other login":           {"none", "as in curl 8: the password of another login is not used"},
	"login only, next has password": {"u:", "as in curl 8: an entry ends at the next machine"},
	"two passwords":                 {"u:p", "as in curl 8: the last password of an entry is used"},
	"NUL in password":               {"u:p", "as in curl 8: a NUL ends only its line"},
	"NUL then more lines":           {"u:password", "as in curl 8: a NUL ends only its line; the next word is the value"},
	"account named password":        {"u:p", "as in curl 8: the word after account is its value"},
	"keyword at end, second entry":  {"x:y", "as in curl 8: the last value of an entry is used; h.test is an unknown word"},
	"token 4095":                    {"u:" + strings.Repeat("p", 4095), "as in curl 8: lines may be longer than 4 KiB"},
	"token 5000":                    {"error", "as in curl 8: words may not be longer than 4 KiB"},
}

func TestSameAsCurl(t *testing.T) {
	for _, c := range readCases(t) {
		want := c.Curl
		if d, ok := differences[c.Name]; ok {
			want = d.want
		}
		if got := credentialsOf(c); got != want {
			t.Errorf("%s: %q as %s@%s: got %s, want %s", c.Name, c.Netrc, c.User, c.Host, got, want)
		}
	}
}

func credentialsOf(c curlCase) string {
	f, err := parse(strings.NewReader(c.Netrc))
	if err != nil {
		return "error"
	}
	e, ok := f.find(c.Host, c.User, true)
	if !ok {
		return "none"
	}
	return e.Login + ":" + e.credential().Password.Reveal()
}

func readCases(t *testing.T) (list []curlCase) {
	t.Helper()
	file, err := os.Open(cases)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var c curlCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

func TestRecordCurl(t *testing.T) {
	if !*record {
		t.Skip("runs only with -record")
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for _, c := range readCases(t) {
		c.Curl = runCurl(t, c)
		if err := enc.Encode(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(cases, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func runCurl(t *testing.T, c curlCase) string {
	got := "error"
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = "none"
		if user, password, ok := r.BasicAuth(); ok {
			got = user + ":" + password
		}
	}))
	defer server.Close()
	path := filepath.Join(t.TempDir(), "netrc")
	if err := os.WriteFile(path, []byte(c.Netrc), 0o600); err != nil {
		t.Fatal(err)
	}
	addr := strings.TrimPrefix(server.URL, "http://")
	user := c.User
	if user != "" {
		user += "@"
	}
	err := exec.Command("curl", "-q", "-s", "--noproxy", "*", "--netrc-file", path, "--netrc-optional",
		"--connect-to", "::"+addr, "http://"+user+c.Host+":"+addr[strings.LastIndex(addr, ":")+1:]+"/").Run()
	if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 26) {
		t.Fatalf("%s: %v", c.Name, err)
	}
	return got
}
