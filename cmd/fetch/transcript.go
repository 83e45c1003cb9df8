package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/http1"
)

// transcribe returns a copy of scheme that prints the commands it sends and the
// replies it receives.
func (s *streams) transcribe(scheme fetch.Scheme) fetch.Scheme {
	open := scheme.Open
	scheme.Open = func(env fetch.Env) fetch.Driver {
		d := open(env)
		return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			var t trace.Trace
			if req.Trace != nil {
				t = *req.Trace
			}
			t.Sent, t.Received = s.printLines("> ", t.Sent), s.printLines("< ", t.Received)
			req = req.Clone()
			req.Trace = &t
			return d.Do(ctx, req)
		})
	}
	return scheme
}

// printLines returns a function that prints each line after a prefix such as ">
// ". The function then calls next, unless next is nil.
func (s *streams) printLines(prefix string, next func([]byte)) func([]byte) {
	return func(p []byte) {
		var all strings.Builder // a single write keeps concurrent messages apart
		for line := range bytes.Lines(p) {
			all.WriteString(prefix + terminal.Plain(string(bytes.TrimRight(line, "\r\n"))) + "\n")
		}
		s.stderr.Write([]byte(all.String()))
		if next != nil {
			next(p)
		}
	}
}

// printPlan prints the requests that the client will send for req, if -v is
// set.
func (s *streams) printPlan(client *fetch.Client, req *fetch.Request) {
	if !s.verbose {
		return
	}
	steps, err := client.Plan(req)
	if err != nil {
		return // Client.Do returns the error
	}
	direct := len(steps) > 0 && steps[0].Verb != "GET" // a proxy would receive GET
	if client.Scheme(req.URL.Scheme()).Traits.ControlConn && direct {
		return // transcribe prints the requests
	}
	for _, step := range steps {
		fmt.Fprintf(s.stderr, "> %s\n", terminal.Plain(step.String()))
	}
}

// printResponse prints the redirects, the server and the header of resp, if -v
// is set.
func (s *streams) printResponse(client *fetch.Client, resp *fetch.Response) {
	if !s.verbose {
		return
	}
	for _, u := range resp.Chain {
		fmt.Fprintf(s.stderr, "* redirected from %s\n", terminal.Plain(u.String()))
	}
	if resp.Peer.IsValid() {
		fmt.Fprintf(s.stderr, "* %s\n", terminal.Plain(resp.URL.String()+" at "+resp.Peer.String()))
	}
	if len(resp.Head) == 0 && client.Scheme(resp.URL.Scheme()).Traits.ControlConn {
		return
	}
	secret := false
	for line := range strings.Lines(string(responseHeader(resp))) {
		line, secret = maskedField(strings.TrimRight(line, "\r\n"), secret)
		fmt.Fprintf(s.stderr, "< %s\n", terminal.Plain(line))
	}
}

// responseHeader returns the header of resp as received. If the protocol has no
// header, it returns equivalent HTTP header fields.
func responseHeader(resp *fetch.Response) []byte {
	if len(resp.Head) > 0 {
		return resp.Head
	}
	var b bytes.Buffer
	b.Write(fieldLines(resp.Header))
	if len(resp.Header) == 0 {
		if !resp.Location.IsZero() {
			fmt.Fprintf(&b, "Location: %s\r\n", resp.Location)
		}
		if resp.Size >= 0 {
			fmt.Fprintf(&b, "Content-Length: %d\r\n", resp.Size)
		}
		if resp.Validator != "" {
			b.WriteString("Accept-ranges: bytes\r\n")
		}
		if !resp.Time.IsZero() {
			fmt.Fprintf(&b, "Last-Modified: %s\r\n", resp.Time.UTC().Format(http.TimeFormat))
		}
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

func fieldLines(h fetch.Header) (text []byte) {
	for _, f := range h {
		text = append(text, f.Name+": "+f.Value+"\r\n"...)
	}
	return text
}

// maskedField replaces the value of a secret header field by ***, and reports
// whether the field is secret. A line that starts with a space continues the
// previous field. The argument folded reports whether the previous field is
// secret. Challenges such as WWW-Authenticate are not secret.
func maskedField(line string, folded bool) (masked string, secret bool) {
	if line != "" && (line[0] == ' ' || line[0] == '\t') {
		if folded {
			line = " ***"
		}
		return line, folded
	}
	name, _, ok := strings.Cut(line, ":")
	name = strings.TrimRight(name, " \t")
	challenge := strings.HasSuffix(strings.ToLower(name), "-authenticate")
	if !ok || strings.Contains(name, " ") || !http1.IsSecretField(name) || challenge {
		return line, false
	}
	return name + ": ***", true
}
