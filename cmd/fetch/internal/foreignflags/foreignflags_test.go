package foreignflags

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestHintLogin checks that a hint contains no password of a URL or a proxy, also
// without a scheme.
func TestHintLogin(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, name := range []string{"proxy x", "output o"} {
		long, short, _ := strings.Cut(name, " ")
		flags.StringP(long, short, "", "")
	}
	for _, c := range []struct{ name, line, want string }{
		{"proxy without a scheme", "--timeout=5 -x me:s3cret@h:1 http://h/", "-x 'me:***@h:1' http://h/"},
		{"at sign in the password", "--timeout=5 --proxy me:s3@cret@h:1 http://h/", "--proxy 'me:***@h:1' http://h/"},
		{"URL without a scheme", "--timeout=5 --output x me:s3cret@h/a", "--output x 'me:***@h/a'"},
		{"proxy of aria2", "--all-proxy=me:s3cret@h:1 http://h/a", "-x 'me:***@h:1' http://h/a"},
		{"proxy with a scheme", "--timeout=5 -x http://me:s3cret@h:1 http://h/", "-x http://me:***@h:1 http://h/"},
		{"address that looks like a login", "--timeout=5 --output me@h mailto:me@h", "--output me@h 'mailto:***@h'"},
	} {
		hint := Find("fetch", flags, strings.Fields(c.line))
		if hint == nil || !strings.HasSuffix(hint.String(), " "+c.want) {
			t.Errorf("%s: %v, want %s", c.name, hint, c.want)
		}
	}
}

// FuzzFind checks that every command line can be examined, and that passwords
// are not printed.
func FuzzFind(f *testing.F) {
	for _, line := range []string{"-r -np http://h/", "-nc -u me:s3cret x", "-qO- http://u:s3cret@h/", "--user a --level", "-ndnH --", "-x4 -dump"} {
		f.Add(line)
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, name := range []string{"range r", "cookie-jar c", "max-time m", "output o", "user u", "proxy x", "data d"} {
		long, short, _ := strings.Cut(name, " ")
		flags.StringP(long, short, "", "")
	}
	flags.BoolP("remote-name", "O", false, "")
	AddNames(flags)
	f.Fuzz(func(t *testing.T, line string) {
		hint := Find("fetch", flags, append([]string{"-u", "me:s3cret", "http://me:s3cret@h/"}, strings.Fields(line)...))
		if hint == nil || strings.Contains(line, "s3cret") {
			return
		}
		if text := hint.String(); !strings.Contains(text, "; use: fetch ") || strings.Contains(text, "-u me:s3cret") {
			t.Error(text)
		}
	})
}
