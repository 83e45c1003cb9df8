package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/tty"
	"golang.org/x/term"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// beText refuses a body for a terminal that is no text, as curl does.
func beText(resp *fetch.Response) error {
	prefix := make([]byte, 1024)
	n, err := io.ReadAtLeast(resp.Body, prefix, 1) // more may come late
	if err != nil && err != io.EOF {
		return err
	}
	prefix = prefix[:n]
	if !tty.IsText(prefix) {
		return fetch.Local.Errorf("the body is no text, and standard output is a terminal: give it a file with -o")
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(prefix), resp.Body), resp.Body}
	return nil
}

// encode writes v as one line of JSON, in which URLs stand as they are and
// nothing acts on a terminal.
func encode(w io.Writer, v any) error {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(tty.JSON(line.Bytes()))
	return local(err)
}

// head is what a protocol says before its body, in its own bytes or, where it
// has none, in header fields.
func head(resp *fetch.Response) []byte {
	if len(resp.Head) > 0 {
		return resp.Head
	}
	var b bytes.Buffer
	for _, f := range resp.Header {
		fmt.Fprintf(&b, "%s: %s\r\n", f.Name, f.Value)
	}
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

// sayPlan says with -v what is about to be asked.
func (a *app) sayPlan(client *fetch.Client, req *fetch.Request) {
	if !a.flags.verbose {
		return
	}
	steps, err := client.Plan(req)
	if err != nil {
		return // Do will say it
	}
	if client.Scheme(req.URL.Scheme()).Traits.ControlConn && len(steps) > 0 && steps[0].Verb != "GET" { // of a proxy
		return // it is said when it is
	}
	for _, s := range steps {
		fmt.Fprintf(a.stderr, "> %s\n", plain(s.String()))
	}
}

// sayHead says with -v what was answered.
func (a *app) sayHead(client *fetch.Client, resp *fetch.Response) {
	if !a.flags.verbose {
		return
	}
	for _, u := range resp.Chain {
		fmt.Fprintf(a.stderr, "* redirected from %s\n", plain(u.String()))
	}
	if resp.Peer.IsValid() {
		fmt.Fprintf(a.stderr, "* %s\n", plain(resp.URL.String()+" at "+resp.Peer.String()))
	}
	if len(resp.Head) == 0 && client.Scheme(resp.URL.Scheme()).Traits.ControlConn {
		return
	}
	secret := false
	for line := range strings.Lines(string(head(resp))) {
		line, secret = maskedField(strings.TrimRight(line, "\r\n"), secret)
		fmt.Fprintf(a.stderr, "< %s\n", plain(line))
	}
}

// maskedField masks the value of a secret field of a response, and reports
// whether line holds one. A line that begins with a blank continues the field
// before it, and folded is true if that one is secret. Challenges such as
// WWW-Authenticate hold no secret.
func maskedField(line string, folded bool) (masked string, secret bool) {
	if line != "" && (line[0] == ' ' || line[0] == '\t') {
		if folded {
			line = " ***"
		}
		return line, folded
	}
	name, _, ok := strings.Cut(line, ":")
	if name = strings.TrimRight(name, " \t"); !ok || strings.Contains(name, " ") || !fetch.SecretHeader(name) || strings.HasSuffix(strings.ToLower(name), "-authenticate") {
		return line, false
	}
	return name + ": ***", true
}
