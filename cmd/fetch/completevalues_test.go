package main

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/schemes/ftp"
	"github.com/spf13/cobra"
)

// complete returns the completions that a shell gets for a command line, without
// descriptions, and the last line, which contains the directive.
func complete(t *testing.T, args ...string) (words []string, directive string) {
	t.Helper()
	var out, stderr bytes.Buffer
	if code := app.Run(append([]string{cobra.ShellCompNoDescRequestCmd}, args...), strings.NewReader(""), &out, &stderr); code != 0 {
		t.Fatalf("%q: exit code %d: %s", args, code, &stderr)
	}
	words = strings.Split(strings.TrimSpace(out.String()), "\n")
	return words[:len(words)-1], words[len(words)-1]
}

// TestCompletion checks the completions of flags and arguments.
func TestCompletion(t *testing.T) {
	const none, noSpace, files, noFiles, folders = "", ":2", ":0", ":4", ":16"
	for _, c := range []struct {
		oddity    string
		args      []string
		want      string // some of the completions
		directive string
	}{
		{"values", []string{"mirror", "--scope", ""}, "prefix host domain any", noFiles},
		{"values after =", []string{"mirror", "--scope="}, "prefix host", noFiles},
		{"list that has a value", []string{"frontier", "dump", "--state", "dead,"}, "dead,gone dead,excluded", noFiles},
		{"flag of the same name with a file", []string{"--state", ""}, none, files},
		{"schemes", []string{"--proto-default", ""}, "http gopher", noFiles},
		{"list of schemes", []string{"--proto", "ftp,"}, "ftp,http", noFiles},
		{"scheme and separator", []string{"--gateway", "wa"}, "wais=", ":6"},
		{"file", []string{"-o", ""}, none, files},
		{"folder", []string{"--output-dir", ""}, none, folders},
		{"SASL mechanisms", []string{"--sasl", ""}, "SCRAM-SHA-256 +LOGIN", noFiles},
		{"number", []string{"--retry", ""}, none, noFiles},
		{"command or scheme", []string{"m"}, "mirror mailto:", noSpace},
		{"scheme of a subcommand", []string{"ls", "go"}, "gopher:// gophers://", noSpace},
		{"optional value", []string{"serve", "--live="}, "http gopher", noFiles},
		{"list of an optional value", []string{"serve", "--live=gopher,"}, "gopher,http", noFiles},
		{"scheme without slashes", []string{"d"}, "data: dict://", noSpace},
		{"path that is no scheme", []string{"./f"}, none, files},
		{"host after its scheme", []string{"ls", "gopher://"}, none, ":6"},
		{"help", []string{"help", ""}, "mirror mirroring gopher", noFiles},
		{"folder of an archive", []string{"verify", ""}, none, files},
	} {
		words, directive := complete(t, c.args...)
		for _, want := range strings.Fields(c.want) {
			if !slices.Contains(words, want) {
				t.Errorf("%s: %q is not in %q", c.oddity, want, words)
			}
		}
		if directive != c.directive || c.want == none && len(words) > 0 {
			t.Errorf("%s: %q, directive %s, want %s", c.oddity, words, directive, c.directive)
		}
	}
}

// TestCompletionForm checks that the completion of a scheme has the form of the
// URLs in its help.
func TestCompletionForm(t *testing.T) {
	words, _ := complete(t, "ls", "")
	for _, s := range schemes.All(schemes.Options{}) {
		opaque := regexp.MustCompile(`\b` + regexp.QuoteMeta(s.Name) + `:[A-Z\[]`).MatchString(s.Help)
		slashes := strings.Contains(s.Help, s.Name+"://")
		switch {
		case opaque && !slashes && slices.Contains(words, s.Name+":"):
		case slices.Contains(words, s.Name+"://") && (slashes || !opaque):
		case opaque && slashes && slices.Contains(words, s.Name+":"):
		default:
			t.Errorf("%s: opaque %v, slashes %v", s.Name, opaque, slashes)
		}
	}
}

// TestCompletionValues checks that the commands accept the values that a shell
// completes.
func TestCompletionValues(t *testing.T) {
	states := []mirror.State{mirror.Pending, mirror.Done, mirror.Kept, mirror.Gone, mirror.Dead, mirror.Excluded}
	for _, c := range []struct {
		args  []string
		valid func(string) bool
	}{
		{[]string{"mirror", "--scope", ""}, func(v string) bool { _, ok := mirror.ParseReach(v); return ok }},
		{[]string{"mirror", "--nofollow", ""}, func(v string) bool { _, ok := mirror.ParseNoFollow(v); return ok }},
		{[]string{"mirror", "--mailboxes", ""}, func(v string) bool { return v == mirror.Mbox.String() || v == mirror.Maildir.String() }},
		{[]string{"frontier", "requeue", "--state", ""}, func(v string) bool { return slices.Contains(states, mirror.State(v)) }},
		{[]string{"--ftp-method", ""}, func(v string) bool { _, err := ftp.ParseMethod(v); return err == nil }},
		{[]string{"--port-policy", ""}, accepted("--port-policy")},
		{[]string{"--screen", ""}, accepted("--screen")},
	} {
		words, _ := complete(t, c.args...)
		if len(words) < 2 {
			t.Errorf("%q: %q", c.args, words)
		}
		for _, v := range words {
			if !c.valid(v) {
				t.Errorf("%q: the value %q is not accepted", c.args, v)
			}
		}
	}
}

// accepted returns a function that reports whether "fetch plan" accepts a value
// of a flag.
func accepted(flag string) func(string) bool {
	return func(value string) bool {
		args := []string{"plan", flag, value, "telnet://127.0.0.1/"}
		return app.Run(args, strings.NewReader(""), new(bytes.Buffer), new(bytes.Buffer)) == 0
	}
}
