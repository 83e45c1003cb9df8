package ftp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/faultnet"
	"github.com/anyurl/fetch/schemes/ftp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestTranscripts replays each conversation of testdata: what the server says,
// and what must have been sent, byte for byte. Sections of a file are
//
//	options   of the scheme, as JSON
//	request   a URL a line, and conditions: see condition
//	control   "< text" from the server, "> text" to it; "= verb": see verb and
//	          phrases. "control 2" is the second connection
//	PORT      what a data connection to that port brings: one a section
//	result    a line for each request: its body, quoted, or what came instead
//	notes     what a person is told, a line each
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

const serverAddr = "192.0.2.1"

type transcript struct {
	options  ftp.Options
	requests []string
	controls [][]string
	results  []string
	notes    string
	port     uint16
}

func replay(t *testing.T, archive *txtar.Archive) {
	net := faultnet.NewNetwork(t)
	tr := transcript{port: 21}
	data := map[uint16][]faultnet.Script{}
	for _, f := range archive.Files {
		text := string(f.Data)
		name, _, _ := strings.Cut(f.Name, " ")
		switch name {
		case "options":
			if err := json.Unmarshal(f.Data, &tr.options); err != nil {
				t.Fatal(err)
			}
		case "request":
			tr.requests = linesOf(text)
		case "control":
			tr.controls = append(tr.controls, linesOf(text))
		case "result":
			tr.results = linesOf(text)
		case "notes":
			tr.notes = text
		default:
			port, err := strconv.ParseUint(name, 10, 16)
			if err != nil {
				t.Fatalf("section %s", f.Name)
			}
			data[uint16(port)] = append(data[uint16(port)], dataScript(text, f.Name))
		}
	}
	for port, scripts := range data {
		net.Serve(netip.AddrPortFrom(netip.MustParseAddr(serverAddr), port).String(), scripts...)
	}
	var scripts []faultnet.Script
	for _, lines := range tr.controls {
		scripts = append(scripts, controlScript(t, lines))
	}
	server := net.Serve(serverAddr+":21", scripts...)
	c := fetch.New(fetch.Options{Policy: fetch.Typed(), Dial: net.Dial}, ftp.Schemes(tr.options)...)
	defer synctest.Wait()
	defer c.Close()

	var notes strings.Builder
	for i, request := range tr.requests {
		got := outcome(t, c, request, func(s string) { fmt.Fprintln(&notes, s) })
		if i >= len(tr.results) || got != tr.results[i] {
			t.Errorf("%s\n got %s\nwant %s", request, got, strings.Join(tr.results[min(i, len(tr.results)):min(i+1, len(tr.results))], ""))
		}
	}
	if notes.String() != tr.notes {
		t.Errorf("notes\n got %s\nwant %s", notes.String(), tr.notes)
	}
	c.Close()
	synctest.Wait()
	if err := server.Err(); err != nil {
		t.Error(err)
	}
	conns := server.Conns()
	for i, lines := range tr.controls {
		if i >= len(conns) {
			t.Errorf("control connection %d was not made", i+1)
			continue
		}
		if got, want := strings.TrimSuffix(string(conns[i].Sent()), "QUIT\r\n"), sentBy(lines); got != want {
			t.Errorf("control connection %d\n got %q\nwant %q", i+1, got, want)
		}
	}
}

// linesOf parts a section, with its phrases said out.
func linesOf(text string) (lines []string) {
	for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if said, ok := phrases[l]; ok {
			lines = append(lines, linesOf(said)...)
			continue
		}
		lines = append(lines, l)
	}
	return lines
}

// phrases are what most conversations say.
var phrases = map[string]string{
	"= anonymous": `< 220 Service ready
> USER anonymous
< 331 Send your address
> PASS fetch@
< 230 Logged in`,
	"= login": `= anonymous
> FEAT
< 211-Features
<  MDTM
<  SIZE
< 211 End
> PWD
< 257 "/" is the current directory`,
	"= old login": `= anonymous
> FEAT
< 502 Command not implemented
> PWD
< 502 Command not implemented`,
	"= file": `> TYPE I
< 200 OK
= again`,
	"= again": `> SIZE file
< 213 7
> MDTM file
< 213 19991231235959`,
	"= no file": `> TYPE I
< 200 OK
> SIZE file
< 550 No such file
> MDTM file
< 550 No such file`,
	"= passive": `> EPSV
< 229 Entering Extended Passive Mode (|||40000|)`,
	"= retrieve": `= passive
> RETR file
< 150 Opening data connection`,
	"= list": `> TYPE A
< 200 OK
= passive
> LIST
< 150 Opening data connection
< 226 Done`,
}

func sentBy(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		if text, ok := strings.CutPrefix(l, "> "); ok {
			b.WriteString(unquote(text) + "\r\n")
		}
	}
	return b.String()
}

// unquote reads a text in quotes as Go would, and another one as it stands.
func unquote(text string) string {
	if s, err := strconv.Unquote(text); err == nil {
		return s
	}
	return text
}

func controlScript(t *testing.T, lines []string) (s faultnet.Script) {
	for _, l := range lines {
		what, text, _ := strings.Cut(l, " ")
		text = unquote(text)
		switch what {
		case "<":
			s = append(s, faultnet.Send(text+"\r\n"))
		case "<<": // without an end
			s = append(s, faultnet.Send(text))
		case ">":
			s = append(s, faultnet.Do("want "+text, func(c *faultnet.Conn) error {
				got, err := c.ReadLine()
				if err == nil && got != text+"\r\n" {
					err = fmt.Errorf("got %q, want %q", got, text)
				}
				if err == io.EOF {
					err = fmt.Errorf("client ended, want %q", text)
				}
				return err
			}))
		case "=":
			s = append(s, verb(t, text))
		default:
			t.Fatalf("line %q", l)
		}
	}
	return append(s, faultnet.Do("wait", func(c *faultnet.Conn) error { c.All(); return nil }))
}

// verb is a step that says nothing: reset, fin, stall, or "delay 10s".
func verb(t *testing.T, text string) faultnet.Step {
	what, arg, _ := strings.Cut(text, " ")
	switch what {
	case "reset":
		return faultnet.Reset()
	case "fin":
		return faultnet.Fin()
	case "stall":
		return faultnet.Stall()
	case "delay":
		d, err := time.ParseDuration(arg)
		if err == nil {
			return faultnet.Delay(d)
		}
	}
	t.Fatalf("verb %q", text)
	return faultnet.Step{}
}

// dataScript sends text and then does what the section's name says. The lines
// of a text end in CR LF, unless it is quoted ("raw").
func dataScript(text, section string) faultnet.Script {
	_, end, _ := strings.Cut(section, " ")
	if end == "raw" {
		text = unquote(strings.TrimSuffix(text, "\n"))
	} else {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	s := faultnet.Script{faultnet.Send(text)}
	switch end {
	case "refuse":
		return faultnet.Script{faultnet.Refuse()}
	case "blackhole":
		return faultnet.Script{faultnet.Blackhole()}
	case "reset":
		s = append(s, faultnet.Reset())
	case "stall":
		s = append(s, faultnet.Stall())
	}
	return s
}

// outcome carries out one line of requests.
func outcome(t *testing.T, c *fetch.Client, line string, note func(string)) string {
	fields := strings.Fields(line)
	u, err := fetch.ParseURL(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	req := &fetch.Request{URL: u, NoFollow: true, Trace: &fetch.Trace{Note: note}}
	for _, f := range fields[1:] {
		condition(t, req, f)
	}
	resp, err := c.Do(t.Context(), req)
	if err != nil {
		return failure("", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return failure(strconv.Quote(string(body))+" ", err)
	case resp.Unchanged:
		return "unchanged"
	}
	text := strconv.Quote(string(body))
	if resp.URL != req.URL {
		text += " " + resp.URL.String()
	}
	if resp.Offset != 0 {
		text += fmt.Sprintf(" offset=%d", resp.Offset)
	}
	if resp.Size >= 0 {
		text += fmt.Sprintf(" size=%d", resp.Size)
	}
	if resp.Validator != "" {
		text += " validator=" + resp.Validator
	}
	if resp.Media != "" {
		text += " " + resp.Media
	}
	return text
}

func failure(body string, err error) string {
	text := body + "error " + fetch.FaultOf(err).String()
	if e, ok := err.(*fetch.Error); ok && e.Code != 0 {
		text += " " + strconv.Itoa(e.Code)
	}
	return text
}

// condition reads one of stat, range=N-M, if-same=V, if-not=V, since=T and
// before=T.
func condition(t *testing.T, req *fetch.Request, text string) {
	key, value, _ := strings.Cut(text, "=")
	var err error
	switch key {
	case "stat":
		req.Op = fetch.Stat
	case "range":
		_, err = fmt.Sscanf(value, "%d:%d", &req.Range.First, &req.Range.End)
	case "if-same":
		req.IfSame = value
	case "if-not":
		req.IfNot = value
	case "since":
		req.Since, err = time.Parse(time.RFC3339, value)
	case "before":
		req.Before, err = time.Parse(time.RFC3339, value)
	default:
		err = fmt.Errorf("unknown condition")
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}
