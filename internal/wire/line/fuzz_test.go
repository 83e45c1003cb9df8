package line

import (
	"bytes"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
)

// FuzzReadLine verifies that the lines and their endings together equal the
// input, for all sizes of reads.
func FuzzReadLine(f *testing.F) {
	for _, seed := range []string{"", "a\r\nb\n\r\r\nc", "\r", strings.Repeat("x", 100) + "\r\n"} {
		f.Add([]byte(seed), uint16(80))
	}
	f.Fuzz(func(t *testing.T, in []byte, limit uint16) {
		lines := func(src io.Reader) (all []byte, err error) {
			r := NewReader(src)
			for {
				text, end, err := r.ReadLine(int(limit))
				if len(text) > int(limit) {
					t.Fatalf("%d bytes in a line of at most %d", len(text), limit)
				}
				all = append(all, text...)
				if err != nil {
					return all, err
				}
				all = append(all, []string{None: "", LF: "\n", CRLF: "\r\n"}[end]...)
			}
		}
		all, err := lines(bytes.NewReader(in))
		if err != ErrTooLong && !bytes.Equal(all, in) {
			t.Errorf("%q was read as %q", in, all)
		}
		if (err == io.EOF) != (len(in) == 0 || in[len(in)-1] == '\n') && err != ErrTooLong {
			t.Errorf("%q ended with %v", in, err)
		}
		again, err2 := lines(iotest.OneByteReader(bytes.NewReader(in)))
		if !bytes.Equal(again, all) || err2 != err {
			t.Errorf("%q, byte by byte: %q, %v; in one read: %q, %v", in, again, err2, all, err)
		}
	})
}

// FuzzReply compares ReadReply and the following input with a simple
// implementation of RFC 959.
func FuzzReply(f *testing.F) {
	for _, seed := range []string{
		"220 a\r\n", "220\r\n", "211-Features:\r\n MDTM\r\n211 End\r\n", "230-a\r\n230-b\n\r\n100 c\r\n230 d\r\n",
		"230-a\r\n230", "999 x\r\n", "-1", "220-a\r\n220\r\n", "220a\r\n", "220-a\n220-220 b\n220 c\r\n150 d\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		want, behind, ok := simpleReply(string(in))
		for _, source := range sources {
			r := NewReader(source.of(string(in)))
			got, err := r.ReadReply()
			if ok != (err == nil) || !reflect.DeepEqual(got, want) {
				t.Fatalf("%q, %s: got %+q, %v, want %+q", in, source.name, got.Lines, err, want.Lines)
			}
			if rest, _ := io.ReadAll(r); ok && string(rest) != behind {
				t.Errorf("%q, %s: %q follows, want %q", in, source.name, rest, behind)
			}
		}
	})
}

func simpleReply(in string) (reply Reply, behind string, ok bool) {
	first := regexp.MustCompile("^([1-5][0-9][0-9])([ -][^\n]*|\r?)\n").FindStringSubmatch(in)
	if first == nil {
		return Reply{}, "", false
	}
	code, left := first[1], MaxReply
	for in != "" && len(reply.Lines) < MaxReplyLines {
		line, rest, whole := strings.Cut(in, "\n")
		if line = strings.TrimSuffix(line, "\r"); !whole || len(line) > left {
			break
		}
		in, left = rest, left-len(line)
		text, last := strings.CutPrefix(line+" ", code+" ")
		text = strings.TrimSuffix(text, " ")
		if !last {
			text = strings.TrimPrefix(line, code+"-")
		}
		reply.Lines = append(reply.Lines, text)
		if last {
			reply.Code, _ = strconv.Atoi(code)
			return reply, in, true
		}
	}
	return Reply{}, "", false
}

// FuzzBlock compares blocks with a simple implementation of RFC 3977, for all
// sizes of reads.
func FuzzBlock(f *testing.F) {
	for _, seed := range []string{
		".\r\n", "a\r\n..b\r\n.\r\n205 bye\r\n", "a\n.\n", ".\r", "\r\n.\r.\r\n.\r\n", "..\r\n.", "a\r\n...\r\n.\r\r\n.\r\n",
	} {
		f.Add([]byte(seed), uint8(0), uint8(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, limit, chunk uint8) {
		want, behind, ended := simpleBlock(string(in))
		for _, source := range sources {
			r := NewReader(source.of(string(in)))
			b := r.Block(int(limit))
			var got bytes.Buffer
			_, err := io.CopyBuffer(struct{ io.Writer }{&got}, b, make([]byte, int(chunk)+1))
			switch {
			case err == ErrTooLong && limit > 0:
				if !strings.HasPrefix(want, got.String()) {
					t.Errorf("%q: %q is not a prefix of %q", in, got.String(), want)
				}
				continue
			case got.String() != want, ended != (err == nil), !ended && err != io.ErrUnexpectedEOF:
				t.Fatalf("%q, %s: got %q, %v, want %q, ended %v", in, source.name, got.String(), err, want, ended)
			}
			if rest, _ := io.ReadAll(r); ended && string(rest) != behind {
				t.Errorf("%q, %s: %q follows, want %q", in, source.name, rest, behind)
			}
		}
	})
}

func simpleBlock(in string) (text, behind string, ended bool) {
	for plain := false; in != ""; {
		line, rest, whole := strings.Cut(in, "\n")
		switch {
		case whole && (line == "." || line == ".\r"):
			return text, rest, true
		case !whole && (line == "." || line == ".\r"):
			return text, "", false
		}
		plain = plain || strings.HasPrefix(line, ".") && !strings.HasPrefix(line, "..")
		if !plain {
			line = strings.TrimPrefix(line, ".")
		}
		text += line
		if whole {
			text += "\n"
		}
		in = rest
	}
	return text, "", false
}

// FuzzAppend verifies that the result is a single line or an error for any
// words.
func FuzzAppend(f *testing.F) {
	f.Add("CWD", "a\r\nDELE b", 512)
	f.Add("", "\x00", 2)
	f.Add("RETR", "\xff\x80", 8)
	f.Fuzz(func(t *testing.T, verb, arg string, limit int) {
		got, err := Append(nil, limit, verb, arg)
		if err != nil {
			if len(got) != 0 {
				t.Errorf("%q with %v", got, err)
			}
			return
		}
		text, ok := strings.CutSuffix(string(got), "\r\n")
		if !ok || strings.ContainsAny(text, "\r\n\x00") || text != verb+" "+arg || len(got) > limit {
			t.Errorf("Append(%q, %q) = %q", verb, arg, got)
		}
	})
}
