package sftp

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/uri"
)

// A fakeChannel answers all requests with a fixed stream of bytes.
type fakeChannel struct {
	io.Reader
	io.Writer
}

func fakeSession(replies []byte) *session {
	s := &session{Conn: sessions.NewConn(nil, nil, ""), channel: newTimed(fakeChannel{bytes.NewReader(replies), io.Discard}, &buffered{}, func() {}), maxRead: 8}
	s.r = bufio.NewReader(s.channel)
	return s
}

// FuzzReplies checks that each stream of replies ends with an error that has a
// class, and that the data and entries are bounded by the replies.
func FuzzReplies(f *testing.F) {
	packet := func(kind byte, id byte, rest string) string {
		return string(request(append([]byte{0, 0, 0, 0, kind, 0, 0, 0, id}, rest...)).bytes())
	}
	str := func(s string) string { return "\x00\x00\x00" + string(rune(len(s))) + s }
	f.Add([]byte(packet(data, 1, str("01234567")) + packet(data, 2, str("89")) + packet(status, 3, "\x00\x00\x00\x00")))
	f.Add([]byte(packet(data, 2, str("89")) + packet(data, 1, str("01234567")) + packet(status, 3, "\x00\x00\x00\x00")))
	f.Add([]byte(packet(data, 1, str("0123"))))
	f.Add([]byte(packet(status, 1, "\x00\x00\x00\x01"+str("end")+str("en"))))
	f.Add([]byte(packet(names, 1, "\x00\x00\x00\x01"+str("a/b")+str("l")+"\x00\x00\x00\x04\x00\x00\xa1\xff") + packet(names, 2, "") + packet(attrsReply, 3, "\x80\x00\x00\x00\xff\xff\xff\xff")))
	f.Fuzz(func(t *testing.T, replies []byte) {
		body, err := io.ReadAll(newContent(fakeSession(replies), "h", 0, 10))
		if len(body) > 10 || len(body) > len(replies) || err == nil && len(body) != 10 {
			t.Errorf("%d bytes, %v", len(body), err)
		}
		if err != nil && (fetch.FaultOf(fakeSession(nil).bodyFault(err)) == fetch.Internal || strings.ContainsAny(err.Error(), "\x00\x1b\r\n")) {
			t.Errorf("got %v", err)
		}
		dir := &listing{session: fakeSession(replies), handle: "h", base: uri.MustParse("sftp://h/d/"), path: "/d"}
		for n := 0; ; n++ {
			e, err := dir.next()
			if err != nil {
				break
			}
			if n > len(replies) || e.Kind != fetch.Info && !strings.HasPrefix(e.URL.String(), "sftp://h/d/") {
				t.Fatalf("entry %d: %v", n, e)
			}
			if rest := strings.TrimSuffix(strings.TrimPrefix(e.URL.Path(), "/d/"), "/"); strings.Contains(rest, "/") || rest == ".." {
				t.Fatalf("entry %v leads out of the directory", e.URL)
			}
		}
		s := fakeSession(replies)
		s.stat("/")
		s.open(open, "/")
		s.negotiate()
	})
}

// FuzzLocate checks that a path has no NUL and is not empty.
func FuzzLocate(f *testing.F) {
	for _, path := range []string{"/", "/a/b", "/~/a", "/~", "/a%00", "/%2e%2e/a", "//"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		u, err := uri.Parse("sftp://h" + path)
		if err != nil {
			return
		}
		l, err := locate(u)
		if err == nil && (l.path == "" || strings.Contains(l.path, "\x00")) || err != nil && fetch.FaultOf(err) != fetch.BadURL {
			t.Errorf("%q: got %+v, %v", path, l, err)
		}
	})
}
