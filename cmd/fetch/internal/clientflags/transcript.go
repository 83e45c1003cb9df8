package clientflags

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/http1"
)

// transcribe returns a copy of scheme that prints the commands it sends and the
// replies it receives.
func transcribe(s *console.Streams, scheme fetch.Scheme) fetch.Scheme {
	open := scheme.Open
	scheme.Open = func(env fetch.Env) fetch.Driver {
		d := open(env)
		return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			var t trace.Trace
			if req.Trace != nil {
				t = *req.Trace
			}
			t.Sent, t.Received = printLines(s, "> ", t.Sent), printLines(s, "< ", t.Received)
			req = req.Clone()
			req.Trace = &t
			return d.Do(ctx, req)
		})
	}
	return scheme
}

// printLines returns a function that prints lines for -v, each with a prefix
// such as ">". The function then calls next, unless next is nil.
func printLines(s *console.Streams, prefix string, next func([]byte)) func([]byte) {
	return func(p []byte) {
		printText(s, prefix, string(p))
		if next != nil {
			next(p)
		}
	}
}

// printText prints the lines of text for -v, each with a prefix.
func printText(s *console.Streams, prefix, text string) {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, prefix+strings.TrimRight(line, "\r\n"))
	}
	s.PrintVerbose(lines...)
}

// printHead prints the lines of a message head for -v, each with a prefix. It
// masks the values of secret header fields.
func printHead(s *console.Streams, prefix, head string) {
	var lines []string
	secret := false
	for line := range strings.Lines(head) {
		line, secret = maskedField(strings.TrimRight(line, "\r\n"), secret)
		lines = append(lines, prefix+line)
	}
	s.PrintVerbose(lines...)
}

// printExchanges is a middleware that prints the connections and the messages
// of each request, including redirects.
func (c *OpenClient) printExchanges(next fetch.Driver) fetch.Driver {
	s := c.streams
	return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		printPlan(s, c.Client, req)
		var t trace.Trace
		if req.Trace != nil {
			t = *req.Trace
		}
		var seen atomic.Bool
		t.Connection = func(text string) { s.PrintVerbose("* " + text) }
		t.RequestHead = func(head string) { printHead(s, "> ", head) }
		t.ResponseHead = func(head string) { seen.Store(true); printHead(s, "< ", head) }
		req = req.Clone()
		req.Trace = &t
		resp, err := next.Do(ctx, req)
		if err == nil {
			printResponse(s, c.Client, resp, seen.Load())
		}
		return resp, err
	})
}

// printPlan prints the commands that the driver will send for req. The head of
// an HTTP request is printed when the request is sent.
func printPlan(s *console.Streams, client *fetch.Client, req *fetch.Request) {
	steps, err := client.Plan(req)
	if err != nil || len(steps) == 0 { // Client.Do returns the error
		return
	}
	traits := client.Scheme(req.URL.Scheme()).Traits
	proxied := steps[0].Verb == "GET" || steps[0].Verb == "HEAD"
	if traits.Web || proxied || traits.ControlConn { // transcribe prints the commands of ftp
		return
	}
	lines := make([]string, len(steps))
	for i, step := range steps {
		lines[i] = "> " + step.String()
	}
	s.PrintVerbose(lines...)
}

// printResponse prints the header of resp, unless it was already printed, and
// the target of a redirect.
func printResponse(s *console.Streams, client *fetch.Client, resp *fetch.Response, printed bool) {
	conversation := len(resp.Head) == 0 && client.Scheme(resp.URL.Scheme()).Traits.ControlConn
	if !printed && !conversation {
		printHead(s, "< ", string(ResponseHeader(resp)))
	}
	if !resp.Location.IsZero() {
		s.PrintVerbose("* redirect to " + resp.Location.String())
	}
}

// ResponseHeader returns the header of resp as received. If the protocol has no
// header, it returns equivalent HTTP header fields.
func ResponseHeader(resp *fetch.Response) []byte {
	if len(resp.Head) > 0 {
		return resp.Head
	}
	var b bytes.Buffer
	b.Write(FieldLines(resp.Header))
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

func FieldLines(h fetch.Header) (text []byte) {
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
