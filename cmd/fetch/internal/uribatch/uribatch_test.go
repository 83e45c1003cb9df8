package uribatch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/anyurl/fetch/uri"
)

func TestRun(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty input", "", ""},
		{"blank lines", "\n \r\n\n", ""},
		{"valid", `{"id":1,"kind":"valid","input":"a:b","production":"URI"}`, `{"id":1,"result":true}`},
		{"invalid",
			`{"id":"x","kind":"valid","input":"a b","production":"URI-reference"}`, `{"id":"x","result":false}`},
		{"id that is an object",
			`{"id":{"n":[1,"<"]},"kind":"valid","input":"","production":"URI"}`, `{"id":{"n":[1,"<"]},"result":false}`},
		{"no id", `{"kind":"valid","input":"::1","production":"IPv6address"}`, `{"id":null,"result":true}`},
		{"parse", `{"id":1,"kind":"parse","input":"HTTP://u:p@[::1]:/?#"}`,
			`{"id":1,"result":{"scheme":"HTTP","authority":"u:p@[::1]:","userinfo":"u:p","host":"[::1]","port":"","path":"/","query":"","fragment":""}}`},
		{"parse an empty reference", `{"id":1,"kind":"parse","input":""}`,
			`{"id":1,"result":{"scheme":null,"authority":null,"userinfo":null,"host":null,"port":null,"path":"","query":null,"fragment":null}}`},
		{"parse a zone", `{"id":1,"kind":"parse","input":"//[fe80::1%25e]"}`,
			`{"id":1,"result":{"scheme":null,"authority":"[fe80::1%25e]","userinfo":null,"host":"[fe80::1%25e]","port":null,"path":"","query":null,"fragment":null}}`},
		{"parse an invalid URI", `{"id":1,"kind":"parse","input":"a b"}`, `{"id":1,"result":null}`},
		{"resolve an invalid reference",
			`{"id":1,"kind":"resolve","base":"http://u:p@h/a&b/","ref":"../<"}`, `{"id":1,"result":null}`},
		{"resolve without HTML escapes",
			`{"id":1,"kind":"resolve","base":"http://u:p@h/","ref":"a&b"}`, `{"id":1,"result":"http://u:p@h/a&b"}`},
		{"resolve against a relative base", `{"id":1,"kind":"resolve","base":"a","ref":"b"}`, `{"id":1,"result":null}`},
		{"normalize",
			`{"id":1,"kind":"normalize","input":"HTTP://h:80","level":"scheme"}`, `{"id":1,"result":"http://h/"}`},
		{"normalize without a level",
			`{"id":1,"kind":"normalize","input":"HTTP://h:80"}`, `{"id":1,"result":"http://h:80"}`},
		{"equivalent", `{"id":1,"kind":"equivalent","a":"x:a","b":"X:%61","level":"syntax"}`, `{"id":1,"result":true}`},
		{"equivalent to an invalid URI",
			`{"id":1,"kind":"equivalent","a":"x:a","b":" ","level":"syntax"}`, `{"id":1,"result":null}`},
		{"relativize",
			`{"id":1,"kind":"relativize","base":"http://h/a","target":"http://h/b"}`, `{"id":1,"result":"b"}`},
		{"relativize to the base",
			`{"id":1,"kind":"relativize","base":"http://h/a","target":"http://h/a"}`, `{"id":1,"result":""}`},
		{"extract",
			`{"id":1,"kind":"extract","text":"<http://a/\nb>, http://ü.de, http://-ü."}`,
			`{"id":1,"result":["http://a/b","http://xn--tda.de","http://-%C3%BC"]}`},
		{"extract from an empty text", `{"id":1,"kind":"extract","text":""}`, `{"id":1,"result":[]}`},
		{"extract without a text", `{"id":1,"kind":"extract"}`, `{"id":1,"error":"input missing"}`},
		{"unknown kind", `{"id":1,"kind":"dereference","input":"a:b"}`, `{"id":1,"unsupported":true}`},
		{"unknown production",
			`{"id":1,"kind":"valid","production":"IRI","input":"a:b"}`, `{"id":1,"unsupported":true}`},
		{"unknown level", `{"id":1,"kind":"normalize","level":"http","input":"a:b"}`, `{"id":1,"unsupported":true}`},
		{"missing input", `{"id":1,"kind":"resolve","base":"a:b"}`, `{"id":1,"error":"input missing"}`},
		{"null input", `{"id":1,"kind":"valid","production":"URI","input":null}`, `{"id":1,"error":"input missing"}`},
		{"not JSON", `{"id":1,`, `{"id":null,"error":"not a request"}`},
		{"not an object", `[1]`, `{"id":null,"error":"not a request"}`},
		{"input that is a number", `{"id":7,"kind":"parse","input":1}`, `{"id":7,"error":"not a request"}`},
		{"two objects", `{"id":1}{"id":2}`, `{"id":null,"error":"not a request"}`},
		{"malformed line between requests, last line without newline",
			`{"id":1,"kind":"valid","input":"a:","production":"URI"}` + "\nhttp://u:secret@h/\n" +
				`{"id":2,"kind":"valid","input":"a:","production":"URI"}`,
			`{"id":1,"result":true}` + "\n" + `{"id":null,"error":"not a request"}` + "\n" + `{"id":2,"result":true}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := c.want
			if want != "" {
				want += "\n"
			}
			for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
				var out bytes.Buffer
				if err := Run(context.Background(), r, &out); err != nil {
					t.Error(err)
				}
				if out.String() != want {
					t.Errorf("got\n%swant\n%s", out.String(), want)
				}
			}
		})
	}
}

// TestLongLine checks that a line longer than maxLine is reported and skipped,
// and that a line of exactly maxLine bytes is evaluated.
func TestLongLine(t *testing.T) {
	request := func(size int) string {
		const head, tail = `{"id":1,"kind":"valid","production":"URI","input":"a:`, "\"}\n"
		return head + strings.Repeat("b", size-len(head)-len(tail)) + tail
	}
	in := request(maxLine) + request(maxLine+1) + request(100)
	var out bytes.Buffer
	if err := Run(context.Background(), strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	const want = `{"id":1,"result":true}` + "\n" +
		`{"id":null,"error":"line too long"}` + "\n" +
		`{"id":1,"result":true}` + "\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// TestResponseBeforeNextRequest checks that each response is flushed before the
// next request is complete.
func TestResponseBeforeNextRequest(t *testing.T) {
	requests, send := io.Pipe()
	received, responses := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Run(context.Background(), requests, responses) }()
	in := bufio.NewReader(received)
	io.WriteString(send, "{")
	for range 3 { // the first byte of the request has been written
		if _, err := io.WriteString(send, `"id":1,"kind":"valid","input":"a:","production":"URI"}`+"\n{"); err != nil {
			t.Fatal(err)
		}
		if line, err := in.ReadString('\n'); err != nil || line != `{"id":1,"result":true}`+"\n" {
			t.Fatalf("got %q, %v", line, err)
		}
	}
	io.WriteString(send, "}")
	send.Close()
	if line, err := in.ReadString('\n'); err != nil || line != `{"id":null,"unsupported":true}`+"\n" {
		t.Errorf("got %q, %v", line, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestRunErrors(t *testing.T) {
	broken := errors.New("broken")
	const line = `{"id":1,"kind":"valid","input":"a:","production":"URI"}` + "\n"
	var out bytes.Buffer
	r := io.MultiReader(strings.NewReader(line), iotest.ErrReader(broken))
	if err := Run(context.Background(), r, &out); !errors.Is(err, broken) || out.Len() == 0 {
		t.Errorf("read error: got %v after %q", err, &out)
	}
	closed, w := io.Pipe()
	closed.CloseWithError(broken)
	if err := Run(context.Background(), strings.NewReader(line), w); !errors.Is(err, broken) {
		t.Errorf("write error: got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Run(ctx, strings.NewReader(line), &out); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled context: got %v", err)
	}
}

// TestVectors runs the test data of package uri and checks each response.
func TestVectors(t *testing.T) {
	for _, name := range []string{"rfc3986.jsonl", "drafts.jsonl", "extract.jsonl"} {
		data, err := os.ReadFile("../../../../uri/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := Run(context.Background(), bytes.NewReader(data), &out); err != nil {
			t.Fatal(err)
		}
		rows, responses := bytes.Split(bytes.TrimSpace(data), []byte("\n")), json.NewDecoder(&out)
		for _, line := range rows {
			var row map[string]any
			var got struct {
				ID     string
				Result any
			}
			if err := errors.Join(json.Unmarshal(line, &row), responses.Decode(&got)); err != nil {
				t.Fatal(err)
			}
			if got.ID != row["id"] || !matches(row, got.Result) {
				t.Errorf("%s\ngot %v", line, got)
			}
		}
		if responses.More() {
			t.Errorf("%s: more responses than requests", name)
		}
	}
}

func matches(row map[string]any, got any) bool {
	switch row["kind"] {
	case "parse": // a row lists only some components
		m, ok := got.(map[string]any)
		for name, want := range row["expected"].(map[string]any) {
			value, there := m[name]
			ok = ok && there && value == want
		}
		return ok
	case "relativize": // any reference that resolves to the target
		s, ok := got.(string)
		if !ok {
			return false
		}
		u, err := uri.MustParse(row["base"].(string)).Resolve(uri.MustParse(s))
		return err == nil && u.Unredacted() == row["target"]
	}
	return reflect.DeepEqual(got, row["expected"])
}
