package line

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

func TestReadReply(t *testing.T) {
	half := strings.Repeat("x", MaxReply/2-len("220 "))
	for _, test := range []struct {
		name, in string
		want     Reply
		err      error
	}{
		{"one line", "220 vsFTPd 3.0.5\r\n", Reply{220, []string{"vsFTPd 3.0.5"}}, nil},
		{"bare LF", "226 done\n", Reply{226, []string{"done"}}, nil},
		{"code alone", "226\r\n", Reply{226, []string{""}}, nil},
		{"code and space", "226 \r\n", Reply{226, []string{""}}, nil},
		{"bytes stay", "257 \"/a\xffb\"\"c\"\r\n", Reply{257, []string{"\"/a\xffb\"\"c\""}}, nil},
		{"many lines", "211-Features:\r\n MDTM\r\n REST STREAM\r\n211 End\r\n",
			Reply{211, []string{"Features:", " MDTM", " REST STREAM", "End"}}, nil},
		{"code on every line", "230-Hello\r\n230-there\r\n230 in\r\n",
			Reply{230, []string{"Hello", "there", "in"}}, nil},
		{"last line is a code alone", "230-Hello\r\n230\r\n", Reply{230, []string{"Hello", ""}}, nil},
		{"other codes inside are text", "220-a\r\n100 users\r\n221 no\r\n220x\r\n220 b\r\n",
			Reply{220, []string{"a", "100 users", "221 no", "220x", "b"}}, nil},
		{"empty line inside", "220-\r\n\r\n220 b\r\n", Reply{220, []string{"", "", "b"}}, nil},
		{"nothing", "", Reply{}, io.EOF},
		{"cut", "226 do", Reply{}, io.ErrUnexpectedEOF},
		{"truncated between lines", "230-Hello\r\n", Reply{}, io.ErrUnexpectedEOF},
		{"cut in the last line", "230-Hello\r\n230 in", Reply{}, io.ErrUnexpectedEOF},
		{"cut after the last code", "230-Hello\r\n230", Reply{}, io.ErrUnexpectedEOF},
		{"empty line", "\r\n", Reply{}, ErrNotReply},
		{"two digits", "22 a\r\n", Reply{}, ErrNotReply},
		{"four digits", "2200 a\r\n", Reply{}, ErrNotReply},
		{"no separator", "220a\r\n", Reply{}, ErrNotReply},
		{"a class that does not exist", "620 a\r\n", Reply{}, ErrNotReply},
		{"zero", "020 a\r\n", Reply{}, ErrNotReply},
		{"another protocol", "HTTP/1.1 200 OK\r\n", Reply{}, ErrNotReply},
		{"a sign", "+20 a\r\n", Reply{}, ErrNotReply},
		{"a line of 17,000 bytes", "250 " + strings.Repeat("x", 17000) + "\r\n", Reply{250, []string{strings.Repeat("x", 17000)}}, nil},
		{"a line of 64 KiB", "220 " + strings.Repeat("x", 64<<10) + "\r\n", Reply{}, ErrTooLong},
		{"as much as allowed, in two lines", "220-" + half + "\r\n220 " + half + "\r\n", Reply{220, []string{half, half}}, nil},
		{"one byte more", "220-" + half + "\r\n220 " + half + "x\r\n", Reply{}, ErrTooLong},
		{"a long line inside", "220-a\r\n" + strings.Repeat("x", 64<<10) + "\r\n220 b\r\n", Reply{}, ErrTooLong},
		{"a thousand lines", "220-" + strings.Repeat("\r\n220-", 998) + "\r\n220 z\r\n",
			Reply{220, append(make([]string, 999), "z")}, nil},
		{"a thousand and one", "220-" + strings.Repeat("\r\n220-", 999) + "\r\n220 z\r\n", Reply{}, ErrTooManyLines},
	} {
		for _, source := range sources {
			t.Run(test.name+"/"+source.name, func(t *testing.T) {
				r := NewReader(source.of(test.in))
				got, err := r.ReadReply()
				if !reflect.DeepEqual(got, test.want) || err != test.err {
					t.Errorf("%.80q: got %+v, %v, want %+v, %v", test.in, got, err, test.want, test.err)
				}
			})
		}
	}
}

func TestReadStatus(t *testing.T) {
	for _, test := range []struct {
		in   string
		want Reply
		err  error
	}{
		{"211 2 1 2 local.test\r\n", Reply{211, []string{"2 1 2 local.test"}}, nil},
		{"205\r\n", Reply{205, []string{""}}, nil},
		{"200-one line for NNTP\r\n", Reply{200, []string{"one line for NNTP"}}, nil},
		{"20 a\r\n", Reply{}, ErrNotReply},
		{"205 by", Reply{}, io.ErrUnexpectedEOF},
		{"", Reply{}, io.EOF},
	} {
		if got, err := NewReader(strings.NewReader(test.in)).ReadStatus(); !reflect.DeepEqual(got, test.want) || err != test.err {
			t.Errorf("%q: got %+v, %v, want %+v, %v", test.in, got, err, test.want, test.err)
		}
	}
}

// TestPipelined reads replies to commands that were sent together.
func TestPipelined(t *testing.T) {
	// Recorded from INN 2.7.1, the answers to GROUP, BODY, STAT and QUIT.
	const in = "211 2 1 2 local.test\r\n" +
		"222 1 <a1@example.org> body\r\nbody line\r\n..dot line\r\n..\r\nend\r\n.\r\n" +
		"223 1 <a1@example.org> status\r\n205 Bye!\r\n"
	for _, source := range sources {
		r := NewReader(source.of(in))
		var got []string
		status := func() {
			reply, err := r.ReadStatus()
			if err != nil {
				t.Fatal(source.name, err)
			}
			got = append(got, fmt.Sprint(reply.Code))
		}
		status()
		status()
		body, err := io.ReadAll(r.Block(0))
		if err != nil {
			t.Fatal(source.name, err)
		}
		got = append(got, string(body))
		status()
		status()
		want := []string{"211", "222", "body line\r\n.dot line\r\n.\r\nend\r\n", "223", "205"}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", source.name, got, want)
		}
		if _, err := r.ReadStatus(); err != io.EOF {
			t.Errorf("%s: then %v, want %v", source.name, err, io.EOF)
		}
	}
}

// TestReplyHostile sends a reply of a million lines. It is rejected after 1,000
// lines with little memory.
func TestReplyHostile(t *testing.T) {
	in := strings.NewReader(strings.Repeat("220-"+strings.Repeat("x", 60)+"\r\n", 1e6))
	used := heap(func() {
		if _, err := NewReader(in).ReadReply(); err != ErrTooManyLines {
			t.Errorf("got %v, want %v", err, ErrTooManyLines)
		}
	})
	if used > 1<<20 {
		t.Errorf("%d bytes of memory", used)
	}
	if read := int(in.Size()) - in.Len(); read > 128<<10 {
		t.Errorf("%d bytes were read", read)
	}
}
