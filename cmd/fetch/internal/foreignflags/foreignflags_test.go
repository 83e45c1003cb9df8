package foreignflags

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

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
