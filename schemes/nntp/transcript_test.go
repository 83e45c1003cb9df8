package nntp_test

import (
	"bufio"
	"compress/flate"
	"context"
	"crypto/tls"
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
	"github.com/anyurl/fetch/schemes/nntp"
)

// TestTranscripts replays each conversation of testdata: what the server says,
// and what must have been sent, byte for byte. Sections of a file are
//
//	options   of the scheme, as JSON
//	since     a date in the form of RFC 3339: only what is newer
//	login     USER:PASSWORD, for whoever asks; a line each, in turn
//	request   a URL a line; "ls URL" for its entries, "stat URL" for what is
//	          known without the body, "get URL" with user information
//	wire      "< text" from the server, "> text" to it, each a line; "= verb":
//	          see verb and phrases. "wire 2" is the second connection
//	result    a line for each request: see outcome
//	notes     what a person is told, a line each
//
// Time is fake and begins at midnight of 2000-01-01. The server is at
// 192.0.2.1:119, or at port 563 where the first URL is of snews or nntps.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts")
	}
	certs := faultnet.NewCerts(t, "192.0.2.1")
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) { replay(t, archive, certs) })
		})
	}
}

func replay(t *testing.T, archive *txtar.Archive, certs *faultnet.Certs) {
	var options nntp.Options
	var logins, requests, results []string
	var scripts []faultnet.Script
	var notes string
	var since time.Time
	for _, f := range archive.Files {
		text := string(f.Data)
		name, _, _ := strings.Cut(f.Name, " ")
		switch name {
		case "options":
			if err := json.Unmarshal(f.Data, &options); err != nil {
				t.Fatal(err)
			}
		case "since":
			if err := since.UnmarshalText([]byte(strings.TrimSpace(text))); err != nil {
				t.Fatal(err)
			}
		case "login":
			logins = linesOf(text)
		case "request":
			requests = linesOf(text)
		case "wire":
			scripts = append(scripts, (&peerScript{certs: certs}).script(t, linesOf(text)))
		case "result":
			results = linesOf(text)
		case "notes":
			notes = text
		default:
			t.Fatalf("section %s", f.Name)
		}
	}
	port := ":119"
	if strings.Contains(requests[0], "snews:") || strings.Contains(requests[0], "nntps:") {
		port = ":563"
	}
	net := faultnet.NewNetwork(t)
	server := net.Serve("192.0.2.1"+port, scripts...)
	var said strings.Builder
	c := fetch.New(fetch.Options{
		Policy: fetch.Typed(), Dial: net.Dial, TLS: &tls.Config{RootCAs: certs.Pool},
		Login: func(_ context.Context, c fetch.Challenge) (*fetch.Credential, error) {
			if len(logins) == 0 {
				return nil, nil
			}
			user, password, _ := strings.Cut(logins[0], ":")
			logins = logins[1:]
			return &fetch.Credential{User: user, Password: fetch.Secret(password)}, nil
		},
	}, nntp.Schemes(options)...)
	defer synctest.Wait()
	defer c.Close()
	for i, request := range requests {
		got := outcome(t, c, request, since, func(s string) { fmt.Fprintln(&said, s) })
		if i >= len(results) || got != results[i] {
			t.Errorf("%s\n got %s\nwant %s", request, got, strings.Join(results[min(i, len(results)):min(i+1, len(results))], ""))
		}
	}
	if said.String() != notes {
		t.Errorf("notes\n got %s\nwant %s", said.String(), notes)
	}
	c.Close()
	synctest.Wait()
	if err := server.Err(); err != nil {
		t.Error(err)
	}
	if n := len(server.Conns()); n != len(scripts) {
		t.Errorf("%d connections, want %d", n, len(scripts))
	}
}

// linesOf parts a section, with its phrases said out.
func linesOf(text string) (lines []string) {
	for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if said, ok := phrases[l]; ok {
			lines = append(lines, linesOf(said)...)
		} else {
			lines = append(lines, l)
		}
	}
	return lines
}

// phrases are how the conversations of known servers begin.
var phrases = map[string]string{
	"= capabilities": `> CAPABILITIES
< 101 Capability list:
< VERSION 2
< IMPLEMENTATION INN 2.7.1
< AUTHINFO USER SASL
< COMPRESS DEFLATE
< HDR
< LIST ACTIVE ACTIVE.TIMES COUNTS DISTRIB.PATS DISTRIBUTIONS HEADERS MODERATORS MOTD NEWSGROUPS OVERVIEW.FMT SUBSCRIPTIONS
< NEWNEWS
< OVER
< READER
< SASL SCRAM-SHA-512 SCRAM-SHA-384 SCRAM-SHA-256 SCRAM-SHA-224 SCRAM-SHA-1 DIGEST-MD5 CRAM-MD5 NTLM PLAIN LOGIN
< STARTTLS
< XPAT
< .`,
	"= nnrpd": `< 200 server.example.net InterNetNews NNRP server INN 2.7.1 ready (no posting)
= capabilities`,
	"= plain": `< 200 ready
> CAPABILITIES
< 101 Capability list:
< VERSION 2
< READER
< LIST ACTIVE NEWSGROUPS
< .`,
	"= leafnode": `< 200 Leafnode NNTP Daemon, version 1.12.0 running at localhost (my fqdn: leaf1.something.net)
> CAPABILITIES
< 500 Unknown command
> MODE READER
< 200 Leafnode 1.12.0, pleased to meet you!`,
	"= overview.fmt": `< 215 Order of fields in overview database
< Subject:
< From:
< Date:
< Message-ID:
< References:
< Bytes:
< Lines:
< Xref:full
< .`,
}

// A peerScript is the server's side of one connection.
type peerScript struct {
	certs  *faultnet.Certs
	in     *bufio.Reader // nil: the connection itself
	packed *flate.Writer
}

func (p *peerScript) script(t *testing.T, lines []string) (s faultnet.Script) {
	for _, l := range lines {
		what, text, _ := strings.Cut(l, " ")
		text = unquote(text)
		switch what {
		case "<":
			s = append(s, p.say(text+"\r\n"))
		case "<<": // without an end
			s = append(s, p.say(text))
		case ">":
			s = append(s, faultnet.Do("want "+text, func(c *faultnet.Conn) error { return p.want(c, text) }))
		case "=":
			s = append(s, p.verb(t, text)...)
		default:
			t.Fatalf("line %q", l)
		}
	}
	return append(s, faultnet.Do("end", func(c *faultnet.Conn) error {
		rest, _ := io.ReadAll(p.reader(c))
		if len(rest) > 0 && string(rest) != "QUIT\r\n" {
			return fmt.Errorf("client said %q", rest)
		}
		return nil
	}))
}

func (p *peerScript) reader(c *faultnet.Conn) *bufio.Reader {
	if p.in == nil {
		p.in = bufio.NewReader(c)
	}
	return p.in
}

func (p *peerScript) want(c *faultnet.Conn, text string) error {
	got, err := p.reader(c).ReadString('\n')
	if got != text+"\r\n" {
		return fmt.Errorf("got %q, %v, want %q", got, err, text)
	}
	return nil
}

func (p *peerScript) say(text string) faultnet.Step {
	return faultnet.Do("say", func(c *faultnet.Conn) error {
		var w io.Writer = c
		if p.packed != nil {
			w = p.packed
		}
		if _, err := io.WriteString(w, text); err != nil || p.packed == nil {
			return err
		}
		return p.packed.Flush()
	})
}

// verb is a step that says nothing: reset, fin, stall, "delay 10s", tls,
// deflate.
func (p *peerScript) verb(t *testing.T, text string) faultnet.Script {
	what, arg, _ := strings.Cut(text, " ")
	switch what {
	case "reset":
		return faultnet.Script{faultnet.Reset()}
	case "fin":
		return faultnet.Script{faultnet.Fin()}
	case "stall":
		return faultnet.Script{faultnet.Stall()}
	case "delay":
		if d, err := time.ParseDuration(arg); err == nil {
			return faultnet.Script{faultnet.Delay(d)}
		}
	case "tls":
		begin := map[string]faultnet.Step{"": p.certs.TLS(), "wrong": p.certs.WrongHost(), "expired": p.certs.Expired(),
			"self-signed": p.certs.SelfSigned(), "stall": faultnet.TLSStall(), "cut": faultnet.TLSCut()}[arg]
		return faultnet.Script{begin, faultnet.Do("within", func(*faultnet.Conn) error { p.in = nil; return nil })}
	case "deflate":
		return faultnet.Script{faultnet.Do("deflate", func(c *faultnet.Conn) (err error) {
			p.in = bufio.NewReader(flate.NewReader(p.reader(c)))
			p.packed, err = flate.NewWriter(c, 6)
			return err
		})}
	}
	t.Fatalf("verb %q", text)
	return nil
}

// unquote reads a text in quotes as Go would, with "*N" behind it repeated,
// and another one as it stands.
func unquote(text string) string {
	quoted, times := text, 1
	if i := strings.LastIndex(text, `"*`); i > 0 {
		if n, err := strconv.Atoi(text[i+2:]); err == nil {
			quoted, times = text[:i+1], n
		}
	}
	if s, err := strconv.Unquote(quoted); err == nil {
		return strings.Repeat(s, times)
	}
	return text
}

// outcome carries out one line of requests.
func outcome(t *testing.T, c *fetch.Client, line string, since time.Time, note func(string)) string {
	what, url, ok := strings.Cut(line, " ")
	if !ok {
		what, url = "get", line
	}
	u, err := fetch.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	req := &fetch.Request{URL: u, Since: since, Trace: &fetch.Trace{Note: note}}
	if what == "stat" {
		req.Op = fetch.Stat
	}
	resp, err := c.Do(t.Context(), req)
	if err != nil {
		return failure("", err)
	}
	defer resp.Body.Close()
	text := ""
	switch what {
	case "stat":
		text = fmt.Sprintf("%s %s %q", resp.Kind, resp.Media, resp.Header)
	case "ls":
		text = entriesOf(resp)
	default:
		body, err := io.ReadAll(resp.Body)
		if text = strconv.Quote(string(body)); err != nil {
			return failure(text+" ", err)
		}
		text += " " + resp.Media
	}
	if resp.Unchanged {
		text += " unchanged"
	}
	return strings.TrimSpace(text)
}

func entriesOf(resp *fetch.Response) string {
	var all []string
	for e, err := range resp.Entries() {
		if err != nil {
			all = append(all, failure("", err))
			break
		}
		e.Raw = ""
		text, err := json.Marshal(e)
		if err != nil {
			return err.Error()
		}
		all = append(all, string(text))
	}
	return strings.Join(all, " ")
}

func failure(body string, err error) string {
	text := body + "error " + fetch.FaultOf(err).String()
	if e, ok := err.(*fetch.Error); ok && e.Code != 0 {
		text += " " + strconv.Itoa(e.Code)
	}
	return text
}
