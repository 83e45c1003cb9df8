package ftp_test

import (
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/schemes/ftp"
)

// FuzzFTPReply has the server say anything. A request ends, in its time, and
// what is told of it can be shown on a terminal.
func FuzzFTPReply(f *testing.F) {
	const login = "220 a\r\n331 b\r\n230 c\r\n"
	for _, said := range []string{
		"", "220", "220 a\n", "220-a\r\n220 b\r\n", "120 wait\r\n220 a\r\n", "421 no\r\n", "220 \x1b]0;x\a\r\n530 \x9b\r\n",
		login, login + "500\r\n257 \"/\"\r\n200\r\n213 6\r\n213 20240301120000\r\n229 (|||40000|)\r\n150 x\r\n226 y\r\n",
		login + "211-\r\n MLST\r\n UTF8\r\n211 x\r\n257 \"/\"\r\n200\r\n200\r\n250-\r\n type=file;size=6; x\r\n250\r\n227 (1,2,3,4,156,64)\r\n226 y\r\n",
		login + "500\r\n500\r\n200\r\n550\r\n550\r\n229 (|||40000|)\r\n550 no\r\n250 dir\r\n",
		login + "500\r\n257 \"\r\n", "230 in\r\n500\r\n500\r\n200\r\n500\r\n500\r\n500\r\n227 1,2,3,4,5,6\r\n",
	} {
		f.Add(said, "ftp://192.0.2.1/x")
		f.Add(said, "ftp://192.0.2.1/a/b/")
	}
	f.Fuzz(func(t *testing.T, said, url string) {
		if !strings.HasPrefix(url, "ftp://192.0.2.1/") {
			url = "ftp://192.0.2.1/x"
		}
		synctest.Test(t, func(t *testing.T) {
			net := faultnet.NewNetwork(t)
			net.Serve("192.0.2.1:21", faultnet.Script{faultnet.Send(said), faultnet.Stall()})
			net.Serve("192.0.2.1:40000", faultnet.Script{faultnet.Send("hello\n")})
			c := fetch.New(fetch.Options{Policy: fetch.Typed(), Dial: net.Dial}, ftp.Schemes(ftp.Options{})...)
			defer synctest.Wait()
			defer c.Close()
			u, err := fetch.ParseURL(url)
			if err != nil {
				return
			}
			start := time.Now()
			var notes []string
			resp, err := c.Do(t.Context(), &fetch.Request{URL: u, NoFollow: true, Trace: &trace.Trace{Note: func(s string) { notes = append(notes, s) }}})
			if err == nil {
				_, err = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			if took := time.Since(start); took > 20*time.Minute {
				t.Errorf("took %v", took)
			}
			if err != nil {
				notes = append(notes, err.Error())
			}
			for _, text := range notes {
				if strings.ContainsFunc(text, unicode.IsControl) || len(text) > 2000+3*len(url) {
					t.Errorf("not to be shown: %q", text)
				}
			}
			if err != nil && fetch.FaultOf(err) == fetch.Internal {
				t.Errorf("nobody classed %v", err)
			}
		})
	})
}

// obliging serves a control connection on which every command is carried out,
// but for what the hooks do about it.
func obliging(hooks ...*faultnet.Hook) faultnet.Step {
	for command, reply := range map[string]string{
		"USER": "331 go on", "PASS": "230 in", "FEAT": "211-\r\n MDTM\r\n SIZE\r\n211 x", "PWD": `257 "/"`, "CWD": "250 ok", "TYPE": "200 ok",
		"SIZE": "213 7", "MDTM": "213 20240301120000", "EPSV": "229 (|||40000|)", "REST": "350 ok",
		"RETR": "150 ok\r\n226 ok", "LIST": "150 ok\r\n226 ok", "QUIT": "221 bye",
	} {
		hooks = append(hooks, faultnet.On("^"+command+"( |$)", 0, faultnet.Send(reply+"\r\n")))
	}
	return faultnet.Lines(append(hooks, faultnet.On("", 0, faultnet.Send("500 what?\r\n")))...)
}

// FuzzNoExtraCommand: the commands on the wire are those of the plan, and
// nothing in a URL adds another.
func FuzzNoExtraCommand(f *testing.F) {
	for _, path := range []string{
		"", "x", "/x", "a/b/x", "%2Fetc/motd", "a//b", "x;type=a", "x;type=d", "a/;type=i", "a%0D%0ADELE%20b", "a%0Ab/x", "%00", "%0d",
		"a%20b/c%3Fd", "x?y/z", "x?;type=A", "%FF%F4%FF/x", "%C3%A9", "x%0", strings.Repeat("a", 510), strings.Repeat("%FF", 260),
	} {
		f.Add("", path, uint8(0), int64(0))
		f.Add("bob:pw", path, uint8(1), int64(3))
		f.Add("bob:", path, uint8(2), int64(-3))
		f.Add("bob:", path, uint8(3), int64(0))
		f.Add("b%0D%0Aob:p%FFw%0A", path, uint8(2), int64(0))
	}
	greetings := []string{"220 hello\r\n", "220 ProFTPD Server ready.\r\n"} // the second is sent commands together
	f.Fuzz(func(t *testing.T, userinfo, path string, method uint8, first int64) {
		text := "ftp://192.0.2.1/" + path
		if userinfo != "" {
			if !strings.Contains(userinfo, ":") {
				userinfo += ":" // without a password there is no login
			}
			text = "ftp://" + userinfo + "@192.0.2.1/" + path
		}
		u, err := fetch.ParseURL(text)
		if err != nil || u.Host() != "192.0.2.1" || first < 0 && first != -3 {
			return
		}
		if port, ok := u.Port(); ok && port != "" {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			net := faultnet.NewNetwork(t)
			s := net.Serve("192.0.2.1:21", faultnet.Script{faultnet.Send(greetings[method/3%2]), obliging()})
			net.Serve("192.0.2.1:40000", faultnet.Script{faultnet.Send("hello\r\n")})
			c := fetch.New(fetch.Options{Policy: fetch.Typed(), Dial: net.Dial}, ftp.Schemes(ftp.Options{Method: ftp.Method(method % 3)})...)
			req := &fetch.Request{URL: u, Range: fetch.Range{First: first}, NoFollow: true}
			steps, refused := c.Plan(req)
			resp, err := c.Do(t.Context(), req)
			if err == nil {
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			c.Close()
			synctest.Wait()
			if refused != nil {
				if len(net.Dialed()) > 0 || err == nil {
					t.Errorf("%s: refused (%v), but %v was dialled; %v", text, refused, net.Dialed(), err)
				}
				return
			}
			compare(t, text, string(s.Conns()[0].Sent()), steps)
			s.Close()
		})
	})
}

// unplanned are commands that only ask; REST is planned where its argument
// does not depend on what they bring.
var unplanned = []string{"FEAT", "PWD", "SIZE", "MDTM", "QUIT"}

// compare holds what was sent against the plan.
func compare(t *testing.T, text, sent string, steps []scheme.Step) {
	if !strings.HasSuffix(sent, "\r\n") || strings.ContainsRune(sent, 0) || strings.Count(sent, "\r") != strings.Count(sent, "\r\n") {
		t.Errorf("%s: sent %q", text, sent)
	}
	lines := strings.Split(strings.TrimSuffix(sent, "\r\n"), "\r\n")
	for _, line := range lines {
		if len(line) > 510 || strings.Contains(line, "\n") {
			t.Errorf("%s: line %q", text, line)
		}
	}
	lines = slices.DeleteFunc(lines, func(line string) bool {
		verb, _, _ := strings.Cut(line, " ")
		return slices.Contains(unplanned, verb)
	})
	var want []string
	for _, s := range steps {
		verb, arg := s.Verb, s.Arg
		if verb == "MLSD" {
			verb = s.Else
		}
		if verb == "PASS" {
			continue
		}
		if arg != "" || verb == "CWD" {
			verb += " " + strings.ReplaceAll(arg, "\xff", "\xff\xff")
		}
		want = append(want, verb)
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "PASS ") })
	if !slices.ContainsFunc(steps, func(s scheme.Step) bool { return s.Verb == "REST" }) {
		lines = slices.DeleteFunc(lines, func(line string) bool { return line == "REST 4" })
	}
	// A file that ends before its range begins is not asked for.
	if n := len(lines); n < len(want) && slices.Equal(lines, want[:n]) && strings.HasPrefix(want[n], "EPSV") {
		return
	}
	if !slices.Equal(lines, want) {
		t.Errorf("%s:\nsent %q\nplan %q", text, lines, want)
	}
}
