package nntp_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/uri"
)

// A memoryConn is a connection to a server in memory. Reads never wait: they
// return io.EOF if no bytes are available.
type memoryConn struct {
	reply func(line string) string // returns the response to a line; nil if unread contains all responses

	mu       sync.Mutex   // the pool sends QUIT at any time
	unread   bytes.Buffer // bytes for the client
	commands []string
}

func (r *memoryConn) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unread.Read(p)
}

// sentCommands returns the lines that the client has sent, without QUIT.
func (r *memoryConn) sentCommands() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.commands), func(line string) bool { return line == "QUIT\r\n" })
}

func (r *memoryConn) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for line := range strings.Lines(string(p)) {
		r.commands = append(r.commands, line)
		if r.reply != nil {
			r.unread.WriteString(r.reply(strings.TrimRight(line, "\r\n")))
		}
	}
	return len(p), nil
}

func (r *memoryConn) Close() error                     { return nil }
func (r *memoryConn) LocalAddr() net.Addr              { return nil }
func (r *memoryConn) RemoteAddr() net.Addr             { return nil }
func (r *memoryConn) SetDeadline(time.Time) error      { return nil }
func (r *memoryConn) SetReadDeadline(time.Time) error  { return nil }
func (r *memoryConn) SetWriteDeadline(time.Time) error { return nil }

// newMemoryClient returns a client with connections to r. Each new connection
// starts with the initial bytes of r.
func newMemoryClient(r *memoryConn, o nntp.Options) *fetch.Client {
	text := r.unread.String()
	dial := func(context.Context, string, netip.AddrPort) (net.Conn, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.unread.Reset()
		r.unread.WriteString(text)
		return r, nil
	}
	return fetch.New(fetch.Options{Policy: fetch.Typed(), Dial: dial}, nntp.Schemes(o)...)
}

func fetchFromMemory(r *memoryConn, o nntp.Options, req *fetch.Request) (*fetch.Response, string, error) {
	c := newMemoryClient(r, o)
	defer c.Close()
	resp, err := c.Do(context.Background(), req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp, string(body), err
}

// serverTexts returns the server responses in the transcripts, as seeds.
func serverTexts(f *testing.F) []string {
	return slices.DeleteFunc(kit.ServerTexts(f), func(text string) bool { return len(text) >= 4096 })
}

var fuzzURLs = []string{
	"nntp://192.0.2.1/g/2", "news://192.0.2.1/a2@example.org", "news://192.0.2.1/g", "nntp://192.0.2.1/g/1-",
	"nntp://192.0.2.1/a.*,!b", "nntp://u:p@192.0.2.1/g/1-200", "nntp://192.0.2.1/g",
}

// FuzzNNTPResponse checks that each request with arbitrary responses ends. The
// result is an error with a fault or a complete response.
func FuzzNNTPResponse(f *testing.F) {
	f.Add("", uint8(0), uint8(0))
	for i, text := range serverTexts(f) {
		for j := range 4 { // other URLs and options
			f.Add(text, uint8(i+j), uint8(4*i+j))
		}
	}
	f.Fuzz(func(t *testing.T, text string, url, options uint8) {
		o := nntp.Options{
			View:          nntp.View(options % 5),
			ClearPassword: true,
			Compress:      nntp.Compress(options / 5 % 3),
			Describe:      options&32 != 0,
		}
		if options&64 != 0 {
			o.Field = "subject"
		}
		r := &memoryConn{}
		r.unread.WriteString(text)
		u := uri.MustParse(fuzzURLs[int(url)%len(fuzzURLs)])
		req := &fetch.Request{URL: u}
		if options&128 != 0 {
			req.Since = time.Unix(1e9, 0)
		}
		resp, body, err := fetchFromMemory(r, o, req)
		if fault := fetch.FaultOf(err); err != nil && fault == fetch.Internal {
			t.Errorf("%s: error without a fault: %v", u, err)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\r\n\x1b\x00") {
			t.Errorf("%s: control characters in the error %q", u, err)
		}
		raw := slices.Contains(r.sentCommands(), "COMPRESS DEFLATE\r\n") || slices.Contains(r.sentCommands(), "STARTTLS\r\n")
		if err == nil && body != "" && !strings.Contains(text, "\n.\r\n") && !strings.Contains(text, "\n.\n") && !raw {
			t.Errorf("%s: got complete body %q for responses %q", u, body, text)
		}
		for _, line := range r.sentCommands() {
			if !raw && (len(line) > 512 || !strings.HasSuffix(line, "\r\n")) {
				t.Errorf("%s: sent %q", u, line)
			}
		}
		if err != nil || resp.Kind != fetch.Menu {
			return
		}
		resp.Body = io.NopCloser(strings.NewReader(body))
		for e, err := range resp.Entries() {
			if err != nil && fetch.FaultOf(err) == fetch.Internal || err == nil && e.Kind != fetch.Info && e.URL.IsZero() {
				t.Errorf("%s: %+v, %v", u, e, err)
			}
		}
	})
}

// FuzzOverview checks that each line of a listing becomes one entry and that
// the URL of an entry is valid.
func FuzzOverview(f *testing.F) {
	f.Add(
		"1\tsubject\tfrom\tdate\t<1@h>\t\t524\t4\tXref: x g:1\r\n",
		"subject,from,date,message-id,references,bytes,lines,xref:full", true,
	)
	f.Add("2\t=?utf-8?q?p=C3=B6st?= =?koi8-r?b?8A==?=\t\t\t\t\t-1\t\r\nnot a number\t\n", "subject,:bytes", false)
	f.Add("group 7 1 y\n\n\xff\n", "", false)
	f.Fuzz(func(t *testing.T, text, fields string, news bool) {
		base := "nntp://192.0.2.1/g"
		if news {
			base = "news:g"
		}
		lines := strings.Count(text, "\n")
		for _, media := range []string{
			"text/x-nntp-overview; fields=\"" + fields + "\"", "text/x-nntp-hdr; field=subject", "text/x-nntp-active",
			"text/x-nntp-descriptions", "text/x-nntp-ids",
		} {
			n := 0
			for e, err := range nntp.Schemes(nntp.Options{})[0].Menu(uri.MustParse(base), media, strings.NewReader(text)) {
				if err != nil {
					break
				}
				n++
				if e.Size < -1 || e.Kind != fetch.Info && e.URL.IsZero() || e.Kind == fetch.Info && !e.URL.IsZero() {
					t.Errorf("%s: %+v", media, e)
				}
				if e.URL.IsZero() {
					continue
				}
				c := fetch.New(fetch.Options{}, nntp.Schemes(nntp.Options{})...)
				if _, err := c.Plan(&fetch.Request{URL: e.URL}); err != nil {
					t.Errorf("%s: URL of entry %+v is not valid: %v", media, e, err)
				}
			}
			if n > lines {
				t.Errorf("%s: got %d entries from %d lines", media, n, lines)
			}
		}
	})
}

// permissiveReply returns a positive response to each command.
func permissiveReply(line string) string {
	verb, arg, _ := strings.Cut(line, " ")
	number := strings.TrimRight(arg, "-")
	switch verb {
	case "CAPABILITIES":
		return "101 ok\r\nREADER\r\nOVER\r\nHDR\r\nLIST ACTIVE NEWSGROUPS OVERVIEW.FMT\r\n.\r\n"
	case "GROUP":
		return "211 1 1 9999999999999999 g\r\n"
	case "LISTGROUP":
		from, _, _ := strings.Cut(arg[strings.LastIndex(arg, " ")+1:], "-")
		return "211 1 1 1 g\r\n" + from + "\r\n.\r\n"
	case "ARTICLE":
		return "220 0 <x@y>\r\n\r\n.\r\n"
	case "HEAD":
		return "221 0 <x@y>\r\n.\r\n"
	case "BODY":
		return "222 0 <x@y>\r\n.\r\n"
	case "OVER":
		return "224 ok\r\n" + number + "\t\t\t\t\t\t\t\r\n.\r\n"
	case "HDR":
		return "225 ok\r\n.\r\n"
	case "LIST":
		return "215 ok\r\n.\r\n"
	}
	return "500 What?\r\n"
}

// FuzzNoExtraCommand checks that the client sends only the planned commands of
// a URL.
func FuzzNoExtraCommand(f *testing.F) {
	for _, url := range fuzzURLs {
		f.Add(url, uint8(0))
	}
	f.Add("news://192.0.2.1/a%0d%0aQUIT@x", uint8(1))
	f.Add("nntp://192.0.2.1/g/1%0d%0a", uint8(2))
	f.Add("news://192.0.2.1/g%0AQUIT", uint8(3))
	f.Add("news://192.0.2.1/a?b@x", uint8(4))
	f.Fuzz(func(t *testing.T, text string, options uint8) {
		u, err := uri.Parse(text)
		if err != nil || u.Host() != "192.0.2.1" || u.Scheme() != "news" && u.Scheme() != "nntp" {
			return
		}
		u = u.WithoutUserinfo()
		o := nntp.Options{View: nntp.View(options % 5), Describe: options&32 != 0}
		if options&64 != 0 {
			o.Field = ":lines"
		}
		r := &memoryConn{reply: permissiveReply}
		r.unread.WriteString("200 hello\r\n")
		c := fetch.New(fetch.Options{}, nntp.Schemes(o)...)
		steps, planErr := c.Plan(&fetch.Request{URL: u})
		_, _, err = fetchFromMemory(r, o, &fetch.Request{URL: u})
		if planErr != nil {
			if len(r.sentCommands()) > 0 || err == nil {
				t.Errorf("%s: planning failed (%v), but the client sent %q", u, planErr, r.sentCommands())
			}
			return
		}
		if err != nil && len(r.sentCommands()) == 0 {
			return // the policy blocks the port
		}
		var want []string
		for _, s := range steps {
			want = append(want, s.Verb)
		}
		var got []string
		for _, line := range r.sentCommands() {
			words := strings.Split(strings.TrimSuffix(line, "\r\n"), " ")
			if words[0] == "LIST" {
				words[0] += " " + words[1]
			}
			if len(line) > 512 || strings.ContainsAny(line[:len(line)-2], "\r\n\x00") || !strings.HasSuffix(line, "\r\n") {
				t.Errorf("%s: sent %q", u, line)
			}
			got = append(got, words[0])
		}
		// For a range, the client repeats LISTGROUP and the command for
		// articles.
		got = slices.Compact(got)
		for len(got) > len(want) && want[len(want)-2] == "LISTGROUP" && slices.Equal(got[len(got)-2:], want[len(want)-2:]) {
			got = got[:len(got)-2]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: sent %q, want %q: %v", u, r.sentCommands(), want, err)
		}
	})
}
