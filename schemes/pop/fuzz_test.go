package pop

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// FuzzReply checks that each status line is a reply or an error with a class,
// and that no control character reaches an error.
func FuzzReply(f *testing.F) {
	for _, text := range []string{"+OK", "-ERR [IN-USE] x", "+ abc", "-err \x1b", "", "+OK <a@b>", "-ERR [", "+"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseReply(text)
		if err == nil {
			err = r.fail(fetch.NotFound)
		}
		if fetch.FaultOf(err) == fetch.Internal || strings.ContainsAny(err.Error(), "\r\n\x1b\x00\x07") {
			t.Errorf("%q: got %q", text, err)
		}
	})
}

// FuzzMenu checks that each line of a listing is one entry below the mailbox.
func FuzzMenu(f *testing.F) {
	for _, text := range []string{"1 120\r\n2 x\r\n", "a\n", "99999999999 1\n", "1 -5", "\n\n", "1 99999999999999999999\n"} {
		f.Add(text)
	}
	base := uri.MustParse("pop://u:p@h/")
	f.Fuzz(func(t *testing.T, text string) {
		n := 0
		for e, err := range menu(base, listMedia, strings.NewReader(text)) {
			if n++; err != nil {
				return
			}
			if e.Kind != fetch.Info && (!strings.HasPrefix(e.URL.Unredacted(), "pop://u@h/") || e.Size < -1) {
				t.Errorf("%q: got %v", text, e)
			}
		}
		if n > strings.Count(text, "\n")+1 {
			t.Errorf("%q: %d entries", text, n)
		}
	})
}

// FuzzNumber checks that the path of a URL cannot add a command.
func FuzzNumber(f *testing.F) {
	for _, path := range []string{"/1", "/", "", "/1%0d%0aQUIT", "/01", "/1;x"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		u, err := uri.Parse("pop://h" + path)
		if err != nil {
			return
		}
		number, err := numberOf(u)
		if err == nil && strings.Trim(number, "0123456789") != "" || err != nil && fetch.FaultOf(err) != fetch.BadURL {
			t.Errorf("%q: got %q, %v", path, number, err)
		}
	})
}
