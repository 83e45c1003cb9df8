package postgres

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// TestReplies checks which messages are accepted after a request. A description of
// columns and an end of a reply must not be accepted at other places.
func TestReplies(t *testing.T) {
	row, end, done := message('D', "\x00\x00"), message('Z', "I"), message('C', "SELECT 1\x00")
	arguments, columns := message('t', "\x00\x00"), message('T', "\x00\x00")
	prepared := message('1', "") + arguments + columns
	for _, test := range []struct {
		name    string
		replies []string // each is the reply to a request
		error   string   // part of the error, or ""
	}{
		{"a result", []string{columns + row + row + done + end}, ""},
		{"a result of a prepared statement", []string{prepared + end, message('2', "") + row + done + end}, ""},
		{"two prepared statements, and an error in a result", []string{prepared + prepared + end, columns + row + message('E', "\x00") + end}, ""},
		{"a statement without a result", []string{message('1', "") + arguments + message('n', "") + end, message('2', "") + done + end}, ""},
		{"an empty query", []string{message('I', "") + end}, ""},
		{"two ends", []string{done + end + end}, "too early, or twice"},
		{"the end of a later reply", []string{done + end, done + end, done + end + done + end}, "too early, or twice"},
		{"an end within the rows", []string{message('2', "") + row + end}, "too early, or twice"},
		{"an end before the rows", []string{columns + end}, "too early, or twice"},
		{"an end after a notice within the rows", []string{columns + message('N', "\x00") + end}, "too early, or twice"},
		{"an end after another description within the rows", []string{columns + row + arguments + columns + end}, "too early, or twice"},
		{"a large description of columns", []string{message('T', "\x4e\x20"+strings.Repeat("\x00", 380_000))}, "380007 bytes"},
		{"a large description of arguments", []string{message('t', "\x4e\x20"+strings.Repeat("\x00", 80_000))}, "80007 bytes"},
		{"many ends of statements", []string{strings.Repeat(done, 6<<20)}, "more than"},
	} {
		r := &replyReader{}
		var err error
		for _, reply := range test.replies {
			r.request = 1
			if err = r.check([]byte(reply)); err != nil {
				break
			}
		}
		if text := fmt.Sprint(err); test.error == "" && err != nil || !strings.Contains(text, test.error) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.error)
		}
	}
}

// TestConcurrentReads reads a reply in two goroutines, as pgx does while it closes a
// connection.
func TestConcurrentReads(t *testing.T) {
	const messages = 1000
	server, client := net.Pipe()
	r := &replyReader{Conn: client}
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			if _, err := io.Copy(io.Discard, r); err != nil {
				t.Error(err)
			}
		})
	}
	row := []byte{'D', 0, 0, 0, 6, 0, 0}
	for range messages {
		server.Write(row)
	}
	server.Close()
	readers.Wait()
	if want := int64(messages * len(row)); r.reply != want || r.err != nil {
		t.Errorf("%d bytes, want %d; %v", r.reply, want, r.err)
	}
}
