package mail_test

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/faultnet"
	"github.com/anyurl/fetch/schemes/mail"
)

// TestTranscripts replays each conversation of testdata: what the server says,
// and what must have been sent, byte for byte. Sections of a file are
//
//	options  of the schemes, as JSON
//	request  a URL a line, and conditions behind it: see condition
//	talk     "< text" from the server, "> text" to it, each ended by CR LF;
//	         "= verb": see verb and phrases. "talk 2" is the second connection
//	result   for each request what came, a line that begins with what it was
//	notes    what a person is told, a line each
//
// Time is fake and begins at midnight of 2000-01-01.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) { replay(t, archive) })
		})
	}
}

func replay(t *testing.T, archive *txtar.Archive) {
	var options mail.Options
	var requests, results []string
	var talks [][]string
	notes := ""
	for _, f := range archive.Files {
		lines := strings.Split(strings.TrimSuffix(string(f.Data), "\n"), "\n")
		switch name, _, _ := strings.Cut(f.Name, " "); name {
		case "options":
			if err := json.Unmarshal(f.Data, &options); err != nil {
				t.Fatal(err)
			}
		case "request":
			requests = lines
		case "talk":
			talks = append(talks, said(lines))
		case "result":
			results = lines
		case "notes":
			notes = string(f.Data)
		default:
			t.Fatalf("section %s", f.Name)
		}
	}
	n := faultnet.NewNetwork(t)
	var scripts []faultnet.Script
	for _, lines := range talks {
		scripts = append(scripts, scriptOf(t, lines))
	}
	server := n.Serve("192.0.2.1:143", scripts...)
	c := client(t, options, func(o *fetch.Options) { o.Dial = n.Dial })
	var heard strings.Builder
	for i, request := range requests {
		synctest.Wait() // until the server has done what it does unasked
		got := outcome(t, c, request, func(s string) { fmt.Fprintln(&heard, s) })
		want := strings.Join(results[min(i, len(results)):min(i+1, len(results))], "")
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", request, got, want)
		}
	}
	if heard.String() != notes {
		t.Errorf("notes\n got %swant %s", heard.String(), notes)
	}
	c.Close()
	synctest.Wait()
	if err := server.Err(); err != nil {
		t.Error(err)
	}
	if conns := server.Conns(); len(conns) != len(talks) {
		t.Errorf("%d connections, want %d", len(conns), len(talks))
	} else {
		for i, lines := range talks {
			if got, want := strings.TrimSuffix(string(conns[i].Sent()), "Z LOGOUT\r\n"), sentBy(lines); got != want {
				t.Errorf("connection %d\n got %q\nwant %q", i+1, got, want)
			}
		}
	}
	server.Close()
}

// phrases are what most talks have.
var phrases = map[string]string{
	"= greeting": "< * OK [CAPABILITY IMAP4rev1 LITERAL+] ready",
	"= login":    "> A1 LOGIN \"bob\" \"s3cret\"\n< A1 OK [CAPABILITY IMAP4rev1 LITERAL+] welcome",
	"= enter":    "= greeting\n= login",
	"= inbox": "> T1 EXAMINE INBOX\n< * 3 EXISTS\n< * 0 RECENT\n< * FLAGS (\\Answered \\Seen)\n< * OK [UIDVALIDITY 42] UIDs valid\n" +
		"< * OK [UIDNEXT 8] next\n< T1 OK [READ-ONLY] done",
}

func said(lines []string) (all []string) {
	for _, l := range lines {
		if text, ok := phrases[l]; ok {
			all = append(all, said(strings.Split(text, "\n"))...)
			continue
		}
		all = append(all, l)
	}
	return all
}

// sentBy is what the client says in a talk.
func sentBy(lines []string) (text string) {
	for _, l := range lines {
		if said, ok := strings.CutPrefix(l, "> "); ok {
			text += said + "\r\n"
		} else if l == ">" {
			text += "\r\n"
		}
	}
	return text
}

func scriptOf(t *testing.T, lines []string) (s faultnet.Script) {
	for _, l := range lines {
		kind, text, _ := strings.Cut(l, " ")
		switch kind {
		case "<":
			s = append(s, faultnet.Send(text+"\r\n"))
		case ">":
			s = append(s, faultnet.Do("hear "+text, func(c *faultnet.Conn) error {
				got, err := c.ReadLine()
				if err == nil && got != text+"\r\n" {
					err = fmt.Errorf("got %q, want %q", got, text)
				}
				return err
			}))
		case "=":
			s = append(s, verb(t, text))
		default:
			t.Fatalf("talk: %q", l)
		}
	}
	return s
}

func verb(t *testing.T, text string) faultnet.Step {
	name, argument, _ := strings.Cut(text, " ")
	n, _ := strconv.ParseInt(argument, 10, 64)
	switch name {
	case "reset":
		return faultnet.Reset()
	case "stall":
		return faultnet.Stall()
	case "close":
		return faultnet.Fin()
	case "wait":
		return faultnet.Delay(time.Duration(n) * time.Second)
	case "bytes":
		return faultnet.SendBytes(n)
	case "send": // without an end
		return faultnet.Send(argument)
	case "repeat":
		times, text, _ := strings.Cut(argument, " ")
		n, _ := strconv.Atoi(times)
		return faultnet.Send(strings.Repeat(text, n))
	case "drip":
		return faultnet.SendSlow(strings.Repeat("x", int(n)), 1, time.Second)
	}
	t.Fatalf("verb %q", text)
	return faultnet.Step{}
}

// condition changes req: "range=2-4" (half-open), "same=V", "not=V", "stat",
// "since=DATE", "before=DATE", "user=U:P".
func condition(t *testing.T, req *fetch.Request, text string) {
	name, value, _ := strings.Cut(text, "=")
	date, _ := time.Parse(time.DateOnly, value)
	switch name {
	case "range":
		first, end, _ := strings.Cut(value, "..")
		req.Range.First, _ = strconv.ParseInt(first, 10, 64)
		req.Range.End, _ = strconv.ParseInt(end, 10, 64)
	case "same":
		req.IfSame = value
	case "not":
		req.IfNot = value
	case "since":
		req.Since = date
	case "before":
		req.Before = date
	case "stat":
		req.Op = fetch.Stat
	case "token":
		req.Auth = &fetch.Credential{User: "bob", Token: fetch.Secret(value)}
	default:
		t.Fatalf("condition %q", text)
	}
}

// outcome is what came of a request, in one line.
func outcome(t *testing.T, c *fetch.Client, request string, note func(string)) string {
	words := strings.Fields(request)
	u, err := fetch.ParseURL(words[0])
	if err != nil {
		return "error " + fetch.FaultOf(err).String()
	}
	req := &fetch.Request{URL: u, Trace: &fetch.Trace{Note: note}}
	for _, w := range words[1:] {
		condition(t, req, w)
	}
	resp, err := c.Do(t.Context(), req)
	if err != nil {
		out := "error " + fetch.FaultOf(err).String() + ": " + causeOf(err)
		if option := fetch.RemedyOf(err); option != "" {
			out += " (" + option + ")"
		}
		return out
	}
	defer resp.Body.Close()
	var out strings.Builder
	if resp.Kind == fetch.Menu && req.Op == fetch.Get {
		out.WriteString("menu")
		for e, err := range resp.Entries() {
			if err != nil {
				return out.String() + " error " + fetch.FaultOf(err).String()
			}
			fmt.Fprintf(&out, " %s<%s>", e.Name, e.URL)
		}
		return out.String()
	}
	body, err := io.ReadAll(resp.Body)
	fmt.Fprintf(&out, "%v %q", resp.Kind, body)
	if len(body) > 200 {
		out.Reset()
		fmt.Fprintf(&out, "%v of %d bytes", resp.Kind, len(body))
	}
	if resp.Unchanged {
		out.WriteString(" unchanged")
	}
	if resp.Offset > 0 {
		fmt.Fprintf(&out, " from %d", resp.Offset)
	}
	fmt.Fprintf(&out, " of %d", resp.Size)
	if resp.Media != "message/rfc822" {
		fmt.Fprintf(&out, " %s", resp.Media)
	}
	if resp.Validator != "" {
		fmt.Fprintf(&out, " %s", resp.Validator)
	}
	if !resp.Time.IsZero() && resp.Header.Get("Date") == "" {
		fmt.Fprintf(&out, " at %s", resp.Time.Format(time.RFC3339))
	}
	if err != nil {
		fmt.Fprintf(&out, " error %v", fetch.FaultOf(err))
	}
	return out.String()
}

// causeOf is what an error says beside operation and URL.
func causeOf(err error) string {
	if e, ok := err.(*fetch.Error); ok {
		err = e.Err
	}
	return err.Error()
}
