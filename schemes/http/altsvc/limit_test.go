package altsvc_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// fileOf returns a file with n origins that have one service each.
func fileOf(n int) io.Reader {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "h2 h%06d.test 443 h3 h%06d.test 444 \"20271126 00:00:00\" 0 0\n", i, i)
	}
	return &b
}

// servicesOf returns a file with n services of one origin.
func servicesOf(n int) io.Reader {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "h2 h029999.test 443 h3 h029999.test %d \"20271126 00:00:00\" 0 0\n", 1000+i)
	}
	return &b
}

// TestFileLimits checks that no service of a file is dropped without an error.
func TestFileLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("reads files of 500,000 hosts")
	}
	for _, c := range []struct {
		name string
		file io.Reader
		want string // part of the error, or "" if the file is read completely
		n    int    // lines that are written
	}{
		{"many origins", fileOf(30_000), "", 30_000},
		{"too many origins", fileOf(500_001), "500000 hosts", 0},
		{"too many lines", strings.NewReader(strings.Repeat("#\n", 1_000_001)), "1000000 lines", 0},
		{"another file", strings.NewReader("\n# Notes\nMy \"notes\"\n"), "line 3 is not in curl's format", 0},
		{"all services of an origin", servicesOf(100), "", 100},
		{"too many services of an origin", servicesOf(101), "100 services", 0},
	} {
		s := newStore()
		err := s.Read(c.file)
		if c.want != "" {
			if fetch.FaultOf(err) != fetch.Local || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %s", c.name, err, c.want)
			}
			continue
		}
		if n := len(s.Lookup("h029999.test", 443)); err != nil || n == 0 || n > 8 {
			t.Errorf("%s: got %d services, %v", c.name, n, err)
		}
		if n := strings.Count(written(t, s), "\n") + 1; n != c.n {
			t.Errorf("%s: %d lines written, want %d", c.name, n, c.n)
		}
	}
}

// TestLearnFull checks that an origin is learned beside those of a file, and that
// Write returns an error if Read would not accept the result.
func TestLearnFull(t *testing.T) {
	if testing.Short() {
		t.Skip("reads files of 500,000 hosts")
	}
	s := newStore()
	if err := s.Read(fileOf(500_000)); err != nil {
		t.Fatal(err)
	}
	learn(t, s, "https://a.test/", `h3=":443"`, true)
	var b bytes.Buffer
	if err := s.Write(&b); fetch.FaultOf(err) != fetch.Local || b.Len() > 0 {
		t.Errorf("%d bytes written, %v", b.Len(), err)
	}
	if s.Lookup("a.test", 443) == nil {
		t.Error("not learned")
	}
}
