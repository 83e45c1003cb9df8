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

// A reciter is a connection in memory whose server never waits: it says what
// answer makes of each line that it hears, and closes when there is no more.
type reciter struct {
	answer func(line string) string // nil: everything is in said

	mu    sync.Mutex   // the pool says QUIT when it likes
	said  bytes.Buffer // what the client may read
	lines []string
}

func (r *reciter) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.said.Read(p)
}

// heard are the lines that the client sent, but QUIT.
func (r *reciter) heard() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.lines), func(line string) bool { return line == "QUIT\r\n" })
}

func (r *reciter) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for line := range strings.Lines(string(p)) {
		r.lines = append(r.lines, line)
		if r.answer != nil {
			r.said.WriteString(r.answer(strings.TrimRight(line, "\r\n")))
		}
	}
	return len(p), nil
}

func (r *reciter) Close() error                     { return nil }
func (r *reciter) LocalAddr() net.Addr              { return nil }
func (r *reciter) RemoteAddr() net.Addr             { return nil }
func (r *reciter) SetDeadline(time.Time) error      { return nil }
func (r *reciter) SetReadDeadline(time.Time) error  { return nil }
func (r *reciter) SetWriteDeadline(time.Time) error { return nil }

// clientOf asks a server that answers like r; each connection begins anew.
func clientOf(r *reciter, o nntp.Options) *fetch.Client {
	whole := r.said.String()
	return fetch.New(fetch.Options{Policy: fetch.Typed(), Dial: func(context.Context, string, netip.AddrPort) (net.Conn, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.said.Reset()
		r.said.WriteString(whole)
		return r, nil
	}}, nntp.Schemes(o)...)
}

func fetchFrom(r *reciter, o nntp.Options, req *fetch.Request) (*fetch.Response, string, error) {
	c := clientOf(r, o)
	defer c.Close()
	resp, err := c.Do(context.Background(), req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp, string(body), err
}

// wires returns what servers send in the transcripts, as seeds.
func wires(f *testing.F) []string {
	return slices.DeleteFunc(kit.ServerTexts(f), func(text string) bool { return len(text) >= 4096 })
}

var fuzzURLs = []string{
	"nntp://192.0.2.1/g/2", "news://192.0.2.1/a2@example.org", "news://192.0.2.1/g", "nntp://192.0.2.1/g/1-",
	"nntp://192.0.2.1/a.*,!b", "nntp://u:p@192.0.2.1/g/1-200", "nntp://192.0.2.1/g",
}

// FuzzNNTPResponse: whatever a server says, the request ends, with an error of
// a class or with what the protocol proves to be whole.
func FuzzNNTPResponse(f *testing.F) {
	f.Add("", uint8(0), uint8(0))
	for i, text := range wires(f) {
		for j := range 4 { // other URLs and options
			f.Add(text, uint8(i+j), uint8(4*i+j))
		}
	}
	f.Fuzz(func(t *testing.T, text string, url, how uint8) {
		o := nntp.Options{View: nntp.View(how % 5), ClearPassword: true, Compress: nntp.Compress(how / 5 % 3), Describe: how&32 != 0}
		if how&64 != 0 {
			o.Field = "subject"
		}
		r := &reciter{}
		r.said.WriteString(text)
		u := uri.MustParse(fuzzURLs[int(url)%len(fuzzURLs)])
		req := &fetch.Request{URL: u}
		if how&128 != 0 {
			req.Since = time.Unix(1e9, 0)
		}
		resp, body, err := fetchFrom(r, o, req)
		if fault := fetch.FaultOf(err); err != nil && fault == fetch.Internal {
			t.Errorf("%s: error of no class: %v", u, err)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\r\n\x1b\x00") {
			t.Errorf("%s: raw bytes in %q", u, err)
		}
		raw := slices.Contains(r.heard(), "COMPRESS DEFLATE\r\n") || slices.Contains(r.heard(), "STARTTLS\r\n")
		if err == nil && body != "" && !strings.Contains(text, "\n.\r\n") && !strings.Contains(text, "\n.\n") && !raw {
			t.Errorf("%s: %q was taken for whole: %q", u, body, text)
		}
		for _, line := range r.heard() {
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

// FuzzOverview: every line of a listing is an entry, and its URL names what
// the line tells of.
func FuzzOverview(f *testing.F) {
	f.Add("1\tsubject\tfrom\tdate\t<1@h>\t\t524\t4\tXref: x g:1\r\n", "subject,from,date,message-id,references,bytes,lines,xref:full", true)
	f.Add("2\t=?utf-8?q?p=C3=B6st?= =?koi8-r?b?8A==?=\t\t\t\t\t-1\t\r\nnot a number\t\n", "subject,:bytes", false)
	f.Add("group 7 1 y\n\n\xff\n", "", false)
	f.Fuzz(func(t *testing.T, text, fields string, news bool) {
		base := "nntp://192.0.2.1/g"
		if news {
			base = "news:g"
		}
		lines := strings.Count(text, "\n")
		for _, media := range []string{"text/x-nntp-overview; fields=\"" + fields + "\"", "text/x-nntp-hdr; field=subject", "text/x-nntp-active", "text/x-nntp-descriptions", "text/x-nntp-ids"} {
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
					t.Errorf("%s: entry %+v cannot be asked for: %v", media, e, err)
				}
			}
			if n > lines {
				t.Errorf("%s: %d entries of %d lines", media, n, lines)
			}
		}
	})
}

// obliging is a server that has everything.
func obliging(line string) string {
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

// FuzzNoExtraCommand: a URL makes the commands of its plan, and no other.
func FuzzNoExtraCommand(f *testing.F) {
	for _, url := range fuzzURLs {
		f.Add(url, uint8(0))
	}
	f.Add("news://192.0.2.1/a%0d%0aQUIT@x", uint8(1))
	f.Add("nntp://192.0.2.1/g/1%0d%0a", uint8(2))
	f.Add("news://192.0.2.1/g%0AQUIT", uint8(3))
	f.Add("news://192.0.2.1/a?b@x", uint8(4))
	f.Fuzz(func(t *testing.T, text string, how uint8) {
		u, err := uri.Parse(text)
		if err != nil || u.Host() != "192.0.2.1" || u.Scheme() != "news" && u.Scheme() != "nntp" {
			return
		}
		u = u.WithoutUserinfo()
		o := nntp.Options{View: nntp.View(how % 5), Describe: how&32 != 0}
		if how&64 != 0 {
			o.Field = ":lines"
		}
		r := &reciter{answer: obliging}
		r.said.WriteString("200 hello\r\n")
		c := fetch.New(fetch.Options{}, nntp.Schemes(o)...)
		steps, planned := c.Plan(&fetch.Request{URL: u})
		_, _, err = fetchFrom(r, o, &fetch.Request{URL: u})
		if planned != nil {
			if len(r.heard()) > 0 || err == nil {
				t.Errorf("%s: not to be planned (%v), but sent %q", u, planned, r.heard())
			}
			return
		}
		if err != nil && len(r.heard()) == 0 {
			return // the port was refused
		}
		var want []string
		for _, s := range steps {
			want = append(want, s.Verb)
		}
		var got []string
		for _, line := range r.heard() {
			words := strings.Split(strings.TrimSuffix(line, "\r\n"), " ")
			if words[0] == "LIST" {
				words[0] += " " + words[1]
			}
			if len(line) > 512 || strings.ContainsAny(line[:len(line)-2], "\r\n\x00") || !strings.HasSuffix(line, "\r\n") {
				t.Errorf("%s: sent %q", u, line)
			}
			got = append(got, words[0])
		}
		// A range is listed a part at a time, and each article asked for.
		got = slices.Compact(got)
		for len(got) > len(want) && want[len(want)-2] == "LISTGROUP" && slices.Equal(got[len(got)-2:], want[len(want)-2:]) {
			got = got[:len(got)-2]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: sent %q, want %q: %v", u, r.heard(), want, err)
		}
	})
}
