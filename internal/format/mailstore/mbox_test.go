package mailstore

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/anyurl/fetch/fetch"
)

func mboxOf(t testing.TB, messages ...string) string {
	t.Helper()
	var b strings.Builder
	m := NewMbox(&b)
	for _, text := range messages {
		if err := m.Append(strings.NewReader(text), time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

const epochDate = "Thu Jan  1 00:00:00 1970\n"

func TestMbox(t *testing.T) {
	for name, c := range map[string]struct{ message, want string }{
		"empty":                  {"", "From MAILER-DAEMON " + epochDate + "\n"},
		"sender and date":        {"Date: Fri, 20 Nov 2026 14:32:15 +0100\r\nFrom: Alice <alice@example.org>\r\n\r\nx\r\n", "From alice@example.org Fri Nov 20 13:32:15 2026\nDate: Fri, 20 Nov 2026 14:32:15 +0100\nFrom: Alice <alice@example.org>\n\nx\n\n"},
		"return path first":      {"From: a@b\nReturn-Path: <c@d>\n\n", "From c@d " + epochDate + "From: a@b\nReturn-Path: <c@d>\n\n\n"},
		"folded sender":          {"From: Alice\r\n <a@b>\r\n\r\n", "From a@b " + epochDate + "From: Alice\n <a@b>\n\n\n"},
		"sender with a space":    {"From: \"a b\"@c\n\n", "From MAILER-DAEMON " + epochDate + "From: \"a b\"@c\n\n\n"},
		"From in the body":       {"\nFrom here\n>From there\n>>From\n >From x\n", "From MAILER-DAEMON " + epochDate + "\n>From here\n>>From there\n>>From\n >From x\n\n"},
		"From in the first line": {"From x", "From MAILER-DAEMON " + epochDate + ">From x\n\n"},
		"no newline at the end":  {"a\r\nb", "From MAILER-DAEMON " + epochDate + "a\nb\n\n"},
		"lone CR":                {"a\rb\r\r\nc\r", "From MAILER-DAEMON " + epochDate + "a\rb\r\nc\r\n\n"},
		"date before 1970":       {"Date: Fri, 20 Nov 1926 14:32:15 +0100\n\n", "From MAILER-DAEMON " + epochDate + "Date: Fri, 20 Nov 1926 14:32:15 +0100\n\n\n"},
		"line of two buffers":    {strings.Repeat("x", 2*bufferSize-1) + "\r\ny", "From MAILER-DAEMON " + epochDate + strings.Repeat("x", 2*bufferSize-1) + "\ny\n\n"},
		"CR at a buffer's end":   {strings.Repeat("x", bufferSize-1) + "\r\ny", "From MAILER-DAEMON " + epochDate + strings.Repeat("x", bufferSize-1) + "\ny\n\n"},
	} {
		if got := mboxOf(t, c.message); got != c.want {
			t.Errorf("%s: got %.300q, want %.300q", name, got, c.want)
		}
	}
}

func readAll(r io.Reader) (all []string, err error) {
	for m, err := range ReadMbox(r) {
		if err != nil {
			return all, err
		}
		text, err := io.ReadAll(m)
		if err != nil {
			return all, err
		}
		all = append(all, string(text))
	}
	return all, nil
}

func TestReadMbox(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"empty file":          {"", nil},
		"empty lines":         {"\n\n", nil},
		"one":                 {"From a\nSubject: x\n\nbody\n\n", []string{"Subject: x\n\nbody\n"}},
		"two":                 {"From a\nx\n\nFrom b\ny\n\n\n", []string{"x\n", "y\n\n"}},
		"no empty line":       {"From a\nx\nFrom b\ny", []string{"x\n", "y"}},
		"quoted":              {"From a\n>From x\n>>From y\n> From z\n>>Fro\n>", []string{"From x\n>From y\n> From z\n>>Fro\n>"}},
		"empty messages":      {"From a\n\nFrom b\n\n", []string{"", ""}},
		"CR LF":               {"From a\r\nx\r\n\r\nFrom b\r\ny\r\n", []string{"x\r\n", "y\r\n"}},
		"only the first line": {"From a", nil},
		"From without space":  {"From a\nFrom\nFromage\n", []string{"From\nFromage\n"}},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text))} {
			got, err := readAll(r)
			if err != nil || len(got) != len(c.want) || strings.Join(got, "|") != strings.Join(c.want, "|") {
				t.Errorf("%s: got %q, %v, want %q", name, got, err, c.want)
			}
		}
	}
	if _, err := readAll(strings.NewReader("Subject: x\n\n")); !errors.Is(err, fetch.Unsupported) {
		t.Errorf("not an mbox: got %v", err)
	}
	failing := io.MultiReader(strings.NewReader("From a\nx\n"), iotest.ErrReader(fetch.Timeout))
	if _, err := readAll(failing); !errors.Is(err, fetch.Timeout) {
		t.Errorf("failing reader: got %v", err)
	}
	// The iterator skips unread messages.
	n := 0
	for range ReadMbox(strings.NewReader("From a\nx\n\nFrom b\ny\n\n")) {
		n++
	}
	if n != 2 {
		t.Errorf("skipped messages: got %d, want 2", n)
	}
}

func TestMboxErrors(t *testing.T) {
	var b bytes.Buffer
	m := NewMbox(&b)
	if err := m.Append(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(fetch.Truncated)), time.Time{}); !errors.Is(err, fetch.Truncated) {
		t.Errorf("failing message: got %v", err)
	}
	if err := NewMbox(writerFunc(func(p []byte) (int, error) { return 0, fetch.DiskFull })).Append(strings.NewReader("a"), time.Time{}); !errors.Is(err, fetch.DiskFull) {
		t.Errorf("failing file: got %v", err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// FuzzMbox checks that appended messages are read back with LF line endings.
func FuzzMbox(f *testing.F) {
	f.Add("From a\n>From b\n\n>>From c\n", "\r\n\r\n")
	f.Add("", "From ")
	f.Add("Date: x\nFrom: a@b\n\n\n\n", "\r")
	f.Fuzz(func(t *testing.T, one, two string) {
		got, err := readAll(strings.NewReader(mboxOf(t, one, two)))
		if err != nil || len(got) != 2 || got[0] != normalizeEOL(one) || got[1] != normalizeEOL(two) {
			t.Errorf("got %q, %v, want %q, %q", got, err, normalizeEOL(one), normalizeEOL(two))
		}
	})
}

func normalizeEOL(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return s
}

// FuzzReadMbox checks that reading any file terminates.
func FuzzReadMbox(f *testing.F) {
	f.Add("From a\n>From x\n\n\nFrom b\r\n\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := readAll(strings.NewReader(s))
		if err == nil && len(strings.Join(got, "")) > len(s) {
			t.Errorf("%q reads as %q", s, got)
		}
	})
}
