package gopher_test

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/test/transcript"
	"github.com/anyurl/fetch/schemes/gopher"
)

// An exchange is a recorded connection to a server. The files testdata/*.hex
// name the servers.
type exchange struct{ request, response string }

// recorded returns the exchanges of a recording by title.
func recorded(t *testing.T, file string) map[string]exchange {
	t.Helper()
	all := map[string]exchange{}
	for _, m := range transcript.ReadRecording(t, os.DirFS("testdata"), file+".hex") {
		e := all[m.Section]
		if m.Client {
			e.request += string(m.Bytes)
		} else {
			e.response += string(m.Bytes)
		}
		all[m.Section] = e
	}
	return all
}

// replay starts a server that replays exchanges, one for each connection. It
// returns the server and a client.
func replay(t *testing.T, o gopher.Options, exchanges ...exchange) (*fetch.Client, *faultnet.Server) {
	t.Helper()
	var scripts []faultnet.Script
	for _, e := range exchanges {
		scripts = append(scripts, faultnet.Script{faultnet.Do("ask", func(c *faultnet.Conn) error {
			_, err := io.ReadFull(c, make([]byte, len(e.request)))
			return err
		}), faultnet.Send(e.response)})
	}
	net := faultnet.NewNetwork(t)
	s := net.Serve("192.0.2.1:70", scripts...)
	return clientOf(t, o, func(opts *fetch.Options) { opts.Dial = net.Dial }), s
}

// outcome describes a response. The common prefix of all URLs is omitted.
func outcome(resp *fetch.Response, err error) string {
	head := ""
	if err == nil && resp.Kind == fetch.Menu {
		head = schemetest.Head(resp) + ":\n"
	}
	return head + schemetest.Describe(resp, err, "gopher://localhost:")
}

// TestRecorded checks the requests, byte for byte, and the parsed responses in
// recordings of three servers.
func TestRecorded(t *testing.T) {
	for file, cases := range captures {
		exchanges := recorded(t, file)
		seen := slices.Clone(urlSelectors)
		for _, c := range cases {
			seen = append(seen, c.title)
			e, ok := exchanges[c.title]
			if !ok {
				t.Errorf("%s: no %q", file, c.title)
				continue
			}
			client, server := replay(t, gopher.Options{}, e)
			got := outcome(client.Get(t.Context(), "gopher://192.0.2.1"+c.url))
			if want := strings.TrimSpace(c.want); got != want {
				t.Errorf("%s: %s:\ngot  %s\nwant %s", file, c.title, got, want)
			}
			if sent := string(server.Conns()[0].All()); sent != e.request {
				t.Errorf("%s: %s: sent %q, want %q", file, c.title, sent, e.request)
			}
		}
		for title := range exchanges {
			if !slices.Contains(seen, title) {
				t.Errorf("%s: %q is not replayed", file, title)
			}
		}
	}
}

// TestRecordedForm checks the form of an item, the answers in the format of UMN
// gopherd, and that the trace does not contain the password.
func TestRecordedForm(t *testing.T) {
	umn := recorded(t, "umn")
	form, sent := umn["ASK item attributes"], umn["ASK submission"]
	var filledIn gopher.Form
	o := gopher.Options{FillForm: func(_ context.Context, f gopher.Form) ([]string, error) {
		filledIn = f
		return f.Fill(map[string]string{
			"your name": "Alice", "Your mail": "alice@example.org", "a password?": "secret",
			"4": "line one\nline two", "I like gophers": "yes",
		}, nil)
	}}
	client, server := replay(t, o, form, sent)
	u, _ := fetch.ParseURL("gopher://192.0.2.1/00/survey%09%09?")
	var traced strings.Builder
	req := &fetch.Request{URL: u, Trace: &trace.Trace{Sent: func(p []byte) { traced.Write(p) }}}
	got := outcome(client.Do(t.Context(), req))
	if want := `document text/plain Gopher+: "Got answers:\r\nAlice\r\nalice@example.org\r\nsecret\r\n2\r\nline one\r\nline two\r\n1\r\nred\r\n"`; got != want {
		t.Errorf("got %s", got)
	}
	conns := server.Conns()
	if len(conns) != 2 || string(conns[0].All()) != form.request || string(conns[1].All()) != sent.request {
		t.Errorf("sent %q, want %q", conns[1].All(), sent.request)
	}
	if want := form.request + strings.Replace(sent.request, "secret", "***", 1); traced.String() != want {
		t.Errorf("got trace %q, want %q", traced.String(), want)
	}
	if len(filledIn) != 8 || filledIn[0].Kind != gopher.Note || filledIn[2].Default != "nobody@localhost" || filledIn[6].Choices[2] != "blue" || filledIn[7].Kind != gopher.File {
		t.Errorf("got form %+v", filledIn)
	}
	// The answers in a URL are decoded and encoded again.
	client, server = replay(t, gopher.Options{}, sent)
	url := "gopher://192.0.2.1/00/survey%09%09+%091%0D%0A+-1%0D%0AAlice%0D%0Aalice@example.org%0D%0Asecret%0D%0A2%0D%0Aline%20one%0D%0Aline%20two%0D%0A1%0D%0Ared%0D%0A.%0D%0A"
	if resp, err := client.Get(t.Context(), url); err != nil {
		t.Error(err)
	} else if resp.Body.Close(); string(server.Conns()[0].All()) != sent.request {
		t.Errorf("filled form: sent %q", server.Conns()[0].All())
	}
}

// TestRecordedView checks that a view is requested by the name that the server
// uses.
func TestRecordedView(t *testing.T) {
	umn := recorded(t, "umn")
	for _, c := range []struct {
		o         gopher.Options
		last, err string
	}{
		{gopher.Options{Lang: "de"}, "German view", ""},
		{gopher.Options{View: "text/PLAIN", Lang: "de-DE"}, "German view", ""},
		{gopher.Options{View: "postscript"}, "", "available views: Text/plain En_US, Text/plain De_DE"},
	} {
		exchanges := []exchange{umn["item attributes"]}
		if c.last != "" {
			exchanges = append(exchanges, umn[c.last])
		}
		client, server := replay(t, c.o, exchanges...)
		resp, err := client.Get(t.Context(), "gopher://192.0.2.1/00/about")
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || fetch.FaultOf(err) != fetch.NotFound {
				t.Errorf("%+v: got %v", c.o, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c.o, err)
			continue
		}
		resp.Body.Close()
		if conns := server.Conns(); len(conns) != 2 || string(conns[1].All()) != umn[c.last].request {
			t.Errorf("%+v: sent %q", c.o, conns[1].All())
		}
	}
}

// TestRecordedStat checks that a Stat request returns the attributes of an item
// without its content.
func TestRecordedStat(t *testing.T) {
	umn := recorded(t, "umn")
	e := umn["item attributes"]
	client, server := replay(t, gopher.Options{}, e)
	u, _ := fetch.ParseURL("gopher://192.0.2.1/00/about%09%09+")
	resp, err := client.Do(t.Context(), &fetch.Request{URL: u, Op: fetch.Stat})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if string(server.Conns()[0].All()) != e.request || !strings.HasPrefix(string(resp.Head), "+INFO: 0about.txt") {
		t.Errorf("sent %q, head %q", server.Conns()[0].All(), resp.Head)
	}
	if got := resp.Header.Values("VIEWS"); !slices.Equal(got, []string{"Text/plain En_US: <.0k>", "Text/plain De_DE: <.0k>"}) {
		t.Errorf("views %q", got)
	}
	if resp.Header.Get("ABSTRACT") != "This abstract describes the about file" || resp.Time.Format("2006-01-02T15:04:05Z07:00") != "2026-11-20T13:15:18Z" {
		t.Errorf("header %v, time %v", resp.Header, resp.Time)
	}
	// UMN gopherd omits the colon after +INFO for its root menu.
	client, _ = replay(t, gopher.Options{}, umn["root item attributes (server omits the colon after +INFO)"])
	u, _ = fetch.ParseURL("gopher://192.0.2.1/1%09%09!")
	if resp, err = client.Do(t.Context(), &fetch.Request{URL: u, Op: fetch.Stat}); err != nil || resp.Header.Get("INFO") != "1Test site\t\tlocalhost\t7070\t+" || resp.Header.Get("VERONICA") != "treewalk: yes" {
		t.Errorf("root: %v, %v", resp, err)
	}
}
