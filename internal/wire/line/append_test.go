package line

import (
	"strings"
	"testing"
)

func TestAppend(t *testing.T) {
	for _, test := range []struct {
		words []string
		want  string
		err   error
	}{
		{[]string{"QUIT"}, "QUIT\r\n", nil},
		{[]string{"CWD", "a b"}, "CWD a b\r\n", nil},
		{[]string{"CWD", ""}, "CWD \r\n", nil},
		{[]string{"OVER", "1-2"}, "OVER 1-2\r\n", nil},
		{[]string{""}, "\r\n", nil},
		{nil, "\r\n", nil},
		{[]string{"/a\tb\xff"}, "/a\tb\xff\r\n", nil},
		{[]string{"CWD", "123456789012"}, "CWD 123456789012\r\n", nil},
		{[]string{"CWD", "1234567890123"}, "", ErrTooLong},
		{[]string{"12345678", "12345678", ""}, "", ErrTooLong},
		{[]string{"CWD", "a\r\nDELE b"}, "", ErrUnsafeByte},
		{[]string{"CWD", "a\n"}, "", ErrUnsafeByte},
		{[]string{"CWD", "\r"}, "", ErrUnsafeByte},
		{[]string{"CWD", "a\x00b"}, "", ErrUnsafeByte},
		{[]string{"CW\nD", "a"}, "", ErrUnsafeByte},
	} {
		got, err := Append([]byte("before"), 18, test.words...)
		if string(got) != "before"+test.want || err != test.err {
			t.Errorf("Append(%q) = %q, %v, want %q, %v", test.words, got, err, test.want, test.err)
		}
	}
}

func TestAppendMaxCommand(t *testing.T) {
	fits := strings.Repeat("x", MaxCommand-len("RETR \r\n"))
	if got, err := Append(nil, MaxCommand, "RETR", fits); len(got) != MaxCommand || err != nil {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	if got, err := Append(nil, MaxCommand, "RETR", fits+"x"); got != nil || err != ErrTooLong {
		t.Errorf("got %d bytes, %v, want %v", len(got), err, ErrTooLong)
	}
}
