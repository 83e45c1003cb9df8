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

var record = flag.Bool("record", false, "ask the installed curl anew for testdata/curl.jsonl")

const cases = "testdata/curl.jsonl"

// A curlCase is one line of testdata/curl.jsonl: what curl 7.88.1 (Debian 12)
// sends as Basic credentials, run with --netrc-optional against a listener on
// loopback; "none" for no credentials, "error" for exit code 26.
type curlCase struct {
	Name  string `json:"name"`
	Netrc string `json:"netrc"`
	Host  string `json:"host"`
	User  string `json:"user"`
	Curl  string `json:"curl"`
}

// unlike holds the cases in which we differ from that curl, and why.
var unlike = map[string]struct{ want, why string }{
	"hash in password":              {"u:#p", "curl 8: only the first word of a line begins a comment"},
	"trailing dot in url":           {"u:p", "one trailing dot is dropped wherever hosts are compared"},
	"trailing dot in file":          {"u:p", "the same"},
	"login matches none":            {"none", "curl 8: the password of another login is not for this one"},
	"login case":                    {"none", "curl 8: the same, and logins differ by case"},
	"default other login":           {"none", "curl 8: the same"},
	"login only, next has password": {"u:", "curl 8: an entry ends where the next machine begins"},
	"two passwords":                 {"u:p", "curl 8: the last one of an entry, as with logins"},
	"NUL in password":               {"u:p", "the NUL ends its line only, as in curl 8"},
	"NUL then more lines":           {"u:password", "the same; the keyword takes the next word, as ever"},
	"account named password":        {"u:p", "curl 8: the word after account is no keyword"},
	"keyword at end, second entry":  {"x:y", "curl 8: the last one of an entry; h.test is a word of no meaning"},
	"token 4095":                    {"u:" + strings.Repeat("p", 4095), "curl 8: lines may be longer than 4 KiB"},
	"token 5000":                    {"error", "curl 8: a word may not"},
}

func TestAsCurl(t *testing.T) {
	for _, c := range readCases(t) {
		want := c.Curl
		if d, ok := unlike[c.Name]; ok {
			want = d.want
		}
		if got := ask(c); got != want {
			t.Errorf("%s: %q as %s@%s: got %s, want %s", c.Name, c.Netrc, c.User, c.Host, got, want)
		}
	}
}

func ask(c curlCase) string {
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
		t.Skip("asked for by -record only")
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for _, c := range readCases(t) {
		c.Curl = askCurl(t, c)
		if err := enc.Encode(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(cases, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func askCurl(t *testing.T, c curlCase) string {
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
