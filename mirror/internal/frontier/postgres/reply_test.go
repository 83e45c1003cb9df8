package postgres

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestReplies checks which messages are accepted after a request. A description of
// columns and an end of a reply must not be accepted at other places.
func TestReplies(t *testing.T) {
	if testing.Short() {
		t.Skip("reads large replies")
	}
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

// TestWideRows checks that the columns of rows count for the limit of a reply,
// whatever the sizes of the reads are. A row of a URL with its capture has 31
// columns, and needs ten times its size if most of them are null.
func TestWideRows(t *testing.T) {
	null := "\xff\xff\xff\xff"
	for _, test := range []struct {
		name    string
		columns byte
		rows    int
		ok      bool
	}{
		{"few columns", 4, 100_000, true},
		{"many columns", 31, 40_000, true},
		{"too many rows with many columns", 31, 50_000, false},
		{"hundreds of columns", 255, 6_000, false},
	} {
		row := message('D', "\x00"+string([]byte{test.columns})+strings.Repeat(null, int(test.columns)))
		for _, size := range []int{6, 7, 1000, len(row)} {
			r := &replyReader{request: 1}
			var err error
			for part := range slices.Chunk([]byte(strings.Repeat(row, test.rows)), size) {
				if err = r.check(part); err != nil {
					break
				}
			}
			if (err == nil) != test.ok {
				t.Errorf("%s, in reads of %d bytes: %v", test.name, size, err)
			}
		}
	}
	r := &replyReader{request: 1}
	for range 2 {
		if err := r.check([]byte(message('D', ""))); err != nil { // pgx rejects it
			t.Error(err)
		}
	}
}

// TestLargeRow checks that a row is limited although the rows of a reply are not,
// because pgx keeps one row in memory.
func TestLargeRow(t *testing.T) {
	row := func(size uint32) []byte { return binary.BigEndian.AppendUint32([]byte{'D'}, size) }
	for _, limit := range []int64{0, maxLargeReply, unlimitedReply} {
		r := &replyReader{request: 100 << 20}
		r.limit.Store(limit)
		if err := r.check(row(maxReply)); err == nil {
			t.Errorf("limit %d: a row of %d bytes is accepted", limit, maxReply)
		}
	}
	r := &replyReader{request: 1}
	r.limit.Store(unlimitedReply)
	large := slices.Concat(row(4+maxReply/2), make([]byte, maxReply/2))
	for range 3 {
		if err := r.check(large); err != nil {
			t.Error(err)
		}
	}
}

// TestLogins checks that a server can send only a few messages of the login. Each
// one makes pgx send the password again.
func TestLogins(t *testing.T) {
	login := []byte(message('R', "\x00\x00\x00\x05salt"))
	r := &replyReader{}
	for n := range maxLogins + 1 {
		if err := r.check(login); (err == nil) != (n < maxLogins) {
			t.Fatalf("message %d: %v", n+1, err)
		}
	}
}

// TestConcurrentReads reads a reply in two goroutines, as pgx does while it closes a
// connection.
func TestConcurrentReads(t *testing.T) {
	const messages = 1000
	server, client := net.Pipe()
	r := &replyReader{Reader: client, socket: &socket{}}
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

// TestIterations checks that a server cannot require millions of iterations for
// the key of the password, whatever the sizes of the reads are.
func TestIterations(t *testing.T) {
	first := func(count string) string { return message('R', "\x00\x00\x00\x0br=nonce,s=c2FsdA==,i="+count) }
	for _, test := range []struct {
		name, text string
		ok         bool
	}{
		{"the default", first("4096"), true},
		{"the limit", first("1000000"), true},
		{"above the limit", first("1000001"), false},
		{"the limit of pgx", first("10000000"), false},
		{"more than 64 bits", first("99999999999999999999"), false},
		{"an extension", first("1,x=1"), false},
		{"no number", first(""), false},
		{"another message of the login", message('R', "\x00\x00\x00\x0cv=c2ln,i=99999999"), true},
		{"a row", message('D', "\x00\x00\x00\x0bi=99999999"), true},
		{"a long message", message('R', "\x00\x00\x00\x0b"+strings.Repeat("x", 20_000)), false},
	} {
		for _, size := range []int{1, 7, len(test.text)} {
			r := &replyReader{}
			var err error
			for part := range slices.Chunk([]byte(test.text), size) {
				err = cmp.Or(err, r.check(part))
			}
			if (err == nil) != test.ok {
				t.Errorf("%s, in reads of %d bytes: %v", test.name, size, err)
			}
		}
	}
}
