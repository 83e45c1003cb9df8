package nntp_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/uri"
)

// numberedServer returns the reply function of a server with the articles low
// to high, without gap, in one group. The message-ids contain era. If moved is
// true, every message-id exists. The server ends the session after the command
// broken.
func numberedServer(era string, low, high, gap int, moved bool, broken string) func(string) string {
	return func(line string) string {
		var n int
		verb, arg, _ := strings.Cut(line, " ")
		fmt.Sscan(arg, &n)
		exists := low <= n && n <= high && n != gap
		switch {
		case verb == broken:
			return "400 going down\r\n"
		case verb == "CAPABILITIES":
			return "500 What?\r\n"
		case verb == "MODE":
			return "200 hello\r\n"
		case verb == "GROUP":
			return fmt.Sprintf("211 %d %d %d g\r\n", max(high-low+1, 0), low, high)
		case verb == "LIST":
			return "500 What?\r\n"
		case verb == "STAT" && strings.HasPrefix(arg, "<") && moved:
			return "223 0 " + arg + " status\r\n"
		case verb == "STAT" && exists:
			return fmt.Sprintf("223 %d <%d@%s> status\r\n", n, n, era)
		case verb == "ARTICLE" && exists:
			return fmt.Sprintf("220 %d <%d@%s>\r\n%d\r\n.\r\n", n, n, era, n)
		case verb == "XOVER":
			text := "224 ok\r\n"
			for ; n <= high; n++ {
				if n == gap {
					continue
				}
				text += fmt.Sprintf("%d\ts\tf\td\t<%d@%s>\t\t1\t1\r\n", n, n, era)
			}
			return text + ".\r\n"
		}
		return "423 no\r\n"
	}
}

// TestMarks tests that each run retrieves only the articles after the mark of
// the previous run.
func TestMarks(t *testing.T) {
	marks := new(nntp.Marks)
	for i, c := range []struct {
		era       string
		low, high int
		gap       int
		moved     bool
		url       string
		broken    string
		after     uint64
		want      string // numbers of the retrieved articles
		unchanged bool
		mark      nntp.Mark
		note      string
	}{
		{era: "a", low: 1, high: 3, url: "g/1-", want: "1 2 3", mark: nntp.Mark{3, "<3@a>"}},
		{era: "a", low: 1, high: 3, url: "g/1-", unchanged: true, mark: nntp.Mark{3, "<3@a>"}},
		{era: "a", low: 1, high: 5, url: "g", want: "4 5", mark: nntp.Mark{5, "<5@a>"}},
		{era: "a", low: 1, high: 5, url: "g", unchanged: true, mark: nntp.Mark{5, "<5@a>"}},
		{era: "a", low: 1, high: 7, url: "g/7", want: "7", mark: nntp.Mark{5, "<5@a>"}}, // sets no mark
		{era: "a", low: 1, high: 7, url: "g/1-", broken: "ARTICLE", mark: nntp.Mark{5, "<5@a>"}},
		{era: "a", low: 1, high: 7, url: "g/1-", after: 6, want: "7", mark: nntp.Mark{7, "<7@a>"}},
		{era: "a", low: 9, high: 9, url: "g/1-", want: "9", mark: nntp.Mark{9, "<9@a>"}},        // marked article expired
		{era: "a", low: 10, high: 9, url: "g/1-", unchanged: true, mark: nntp.Mark{9, "<9@a>"}}, // all articles expired
		{era: "b", low: 1, high: 2, url: "g/1-", want: "1 2", mark: nntp.Mark{2, "<2@b>"}, note: "renumbered"},
		{era: "c", low: 1, high: 2, url: "g", want: "1 2", mark: nntp.Mark{2, "<2@c>"}, note: "renumbered"},
		{era: "c", low: 1, high: 0, url: "g", mark: nntp.Mark{2, "<2@c>"}, note: "renumbered"},  // empty new group
		{era: "c", low: 1, high: 4, gap: 2, url: "g", want: "3 4", mark: nntp.Mark{4, "<4@c>"}}, // marked article canceled
		{
			era:   "d",
			low:   1,
			high:  5,
			gap:   4,
			moved: true,
			url:   "g",
			want:  "1 2 3 5",
			mark:  nntp.Mark{5, "<5@d>"},
			note:  "renumbered",
		},
		{era: "d", low: 6, high: 7, moved: true, url: "g/1-", want: "6 7", mark: nntp.Mark{7, "<7@d>"}},
	} {
		r := &memoryConn{reply: numberedServer(c.era, c.low, c.high, c.gap, c.moved, c.broken)}
		r.unread.WriteString("200 hello\r\n")
		note := ""
		got, unchanged, err := readNumbers(t, r, nntp.Options{Marks: marks, After: c.after}, c.url, &note)
		if got != c.want || unchanged != c.unchanged || (err != nil) != (c.broken != "") ||
			!strings.Contains(note, c.note) || c.note == "" && note != "" {
			t.Errorf("%d: got %q, unchanged %v, %v, note %q", i, got, unchanged, err, note)
		}
		if got := marks.Get("192.0.2.1:119", "g"); got != c.mark {
			t.Errorf("%d: mark %v, want %v", i, got, c.mark)
		}
		var file bytes.Buffer
		if err := marks.Write(&file); err != nil {
			t.Fatal(err)
		}
		if marks, err = nntp.ReadMarks(&file); err != nil {
			t.Fatal(err)
		}
	}
}

func readNumbers(t *testing.T, r *memoryConn, o nntp.Options, path string, note *string) (string, bool, error) {
	t.Helper()
	c := newMemoryClient(r, o)
	defer c.Close()
	resp, err := c.Do(
		t.Context(),
		&fetch.Request{
			URL:   uri.MustParse("nntp://192.0.2.1/" + path),
			Trace: &trace.Trace{Note: func(s string) { *note += s }},
		},
	)
	if err != nil {
		return "", false, err
	}
	defer resp.Body.Close()
	var numbers []string
	if resp.Kind == fetch.Menu {
		for e, err := range resp.Entries() {
			if err != nil {
				return "", false, err
			}
			numbers = append(numbers, e.Extra["number"])
		}
		return strings.Join(numbers, " "), resp.Unchanged, nil
	}
	for m, err := range nntp.Messages(resp.Media, resp.Body) {
		if err != nil {
			return "", false, err
		}
		text, err := io.ReadAll(m)
		if err != nil {
			return "", false, err
		}
		numbers = append(numbers, strings.TrimSpace(string(text)))
	}
	return strings.Join(numbers, " "), resp.Unchanged, nil
}

func TestReadMarks(t *testing.T) {
	m, err := nntp.ReadMarks(strings.NewReader(""))
	if err != nil || m.Get("h:119", "g") != (nntp.Mark{}) {
		t.Errorf("empty input: got %v, %v", m, err)
	}
	m.Set("h:119", "g", nntp.Mark{Number: 7, ID: "<7@h>"})
	var b strings.Builder
	if err := m.Write(&b); err != nil ||
		b.String() != "{\n\t\"h:119/g\": {\n\t\t\"number\": 7,\n\t\t\"id\": \"<7@h>\"\n\t}\n}\n" {
		t.Errorf("got %q, %v", b.String(), err)
	}
	for _, text := range []string{"[]", "{", `{"g": 7}`, `{"g": {"number": -1}}`} {
		if _, err := nntp.ReadMarks(strings.NewReader(text)); fetch.FaultOf(err) != fetch.Local {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

// TestMessages tests complete, truncated and malformed batches.
func TestMessages(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		want  string
		fault fetch.Fault
	}{
		"empty":                       {"", "", 0},
		"two messages":                {"#! rnews 3\na\r\n#! rnews 2\nb\n", "a\r\n|b\n|", 0},
		"empty message":               {"#! rnews 0\n#! rnews 1\nx", "|x|", 0},
		"truncated message":           {"#! rnews 9\nabc", "abc", fetch.Truncated},
		"truncated line":              {"#! rnews 9", "", fetch.Truncated},
		"line is missing":             {"Subject: x\n", "", fetch.Protocol},
		"invalid length":              {"#! rnews x\n", "", fetch.Protocol},
		"negative length":             {"#! rnews -1\n", "", fetch.Protocol},
		"length with too many digits": {"#! rnews 99999999999999999\n", "", fetch.Protocol},
		"endless line":                {"#! rnews " + strings.Repeat("0", 1<<20), "", fetch.Protocol},
		"text between messages":       {"#! rnews 1\nxjunk\n", "x|", fetch.Protocol},
	} {
		got, err := readMessages("application/x-rnews", c.text)
		if got != c.want || fetch.FaultOf(err) != c.fault {
			t.Errorf("%s: got %q, %v, want %q, %v", name, got, err, c.want, c.fault)
		}
	}
	if got, err := readMessages("message/rfc822", "#! rnews 1\nx"); err != nil || got != "#! rnews 1\nx|" {
		t.Errorf("body of one message: got %q, %v", got, err)
	}
	n := 0
	for range nntp.Messages("application/x-rnews", strings.NewReader("#! rnews 3\nabc#! rnews 2\nde")) {
		n++
	}
	if n != 2 {
		t.Errorf("unread messages: got %d, want 2", n)
	}
}

func readMessages(media, text string) (all string, err error) {
	for m, err := range nntp.Messages(media, strings.NewReader(text)) {
		if err != nil {
			return all, err
		}
		body, err := io.ReadAll(m)
		if all += string(body); err != nil {
			return all, err
		}
		all += "|"
	}
	return all, nil
}
