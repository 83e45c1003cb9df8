package ftp_test

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
//	control   what both say: see faultnet.Talk, and phrases. "control 2" is the
//	          second connection
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

func replay(t *testing.T, archive *txtar.Archive) {
	var options ftp.Options
	policy := fetch.Typed()
	var requests, results, sent []string
	var scripts []faultnet.Script
	wantNotes := ""
	net := faultnet.NewNetwork(t)
	data := map[string][]faultnet.Script{}
	for _, f := range archive.Files {
		text := string(f.Data)
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		name, _, _ := strings.Cut(f.Name, " ")
		switch name {
		case "options":
			if err := json.Unmarshal(f.Data, &options); err != nil {
				t.Fatal(err)
			}
		case "policy":
			if err := json.Unmarshal(f.Data, &policy); err != nil {
				t.Fatal(err)
			}
		case "request":
			requests = lines
		case "control":
			script, says, err := faultnet.Talk{Phrases: phrases}.Script(text)
			if err != nil {
				t.Fatal(err)
			}
			scripts, sent = append(scripts, script), append(sent, says)
		case "result":
			results = lines
		case "notes":
			wantNotes = text
		default:
			data[name] = append(data[name], dataScript(t, text, f.Name))
		}
	}
	for port, scripts := range data {
		net.Serve(serverAddr+":"+port, scripts...)
	}
	server := net.Serve(serverAddr+":21", scripts...)
	c := fetch.New(fetch.Options{Policy: policy, Dial: net.Dial}, ftp.Schemes(options)...)
	defer synctest.Wait()
	defer c.Close()

	var notes strings.Builder
	for i, request := range requests {
		synctest.Wait() // until the server has done what it does unasked
		got := outcome(t, c, request, func(s string) { fmt.Fprintln(&notes, s) })
		if i >= len(results) || got != results[i] {
			t.Errorf("%s\n got %s\nwant %s", request, got, strings.Join(results[min(i, len(results)):min(i+1, len(results))], ""))
		}
	}
	if notes.String() != wantNotes {
		t.Errorf("notes\n got %s\nwant %s", notes.String(), wantNotes)
	}
	c.Close()
	synctest.Wait()
	if err := server.Err(); err != nil {
		t.Error(err)
	}
	conns := server.Conns()
	if len(conns) != len(sent) {
		t.Fatalf("%d control connections, want %d", len(conns), len(sent))
	}
	for i, want := range sent {
		if got := strings.TrimSuffix(string(conns[i].Sent()), "QUIT\r\n"); got != want {
			t.Errorf("control connection %d\n got %q\nwant %q", i+1, got, want)
		}
	}
}

// phrases are what most conversations say.
var phrases = map[string]string{
	"anonymous": `< 220 Service ready
> USER anonymous
< 331 Send your address
> PASS fetch@
< 230 Logged in`,
	"login": `= anonymous
> FEAT
< 211-Features
<  MDTM
<  SIZE
< 211 End
> PWD
< 257 "/" is the current directory`,
	"old login": `= anonymous
> FEAT
< 502 Command not implemented
> PWD
< 502 Command not implemented`,
	"file": `> TYPE I
< 200 OK
= again`,
	"again": `> SIZE file
< 213 7
> MDTM file
< 213 19991231235959`,
	"no file": `> TYPE I
< 200 OK
> SIZE file
< 550 No such file
> MDTM file
< 550 No such file`,
	"passive": `> EPSV
< 229 Entering Extended Passive Mode (|||40000|)`,
	"retrieve": `= passive
> RETR file
< 150 Opening data connection`,
	"list": `> TYPE A
< 200 OK
= passive
> LIST
< 150 Opening data connection
< 226 Done`,
}

// dataScript sends text and then does what the section's name says. The lines
// of a text end in CR LF, unless it is quoted ("raw").
func dataScript(t *testing.T, text, section string) faultnet.Script {
	_, end, _ := strings.Cut(section, " ")
	if end == "raw" {
		var err error
		if text, err = strconv.Unquote(strings.TrimSuffix(text, "\n")); err != nil {
			t.Fatal(err)
		}
	} else {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	s := faultnet.Script{faultnet.Send(text)}
	switch end {
	case "refuse":
		return faultnet.Script{faultnet.Refuse()}
	case "blackhole":
		return faultnet.Script{faultnet.Blackhole()}
	case "late": // ends when the server has said all
		s = append(s, faultnet.Delay(time.Second))
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
