package har

import (
	"bytes"
	"encoding/json"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
)

const sample = "\ufeff" + `{"log": {"version": "1.2", "creator": {"name": "x"}, "pages": [], "entries": [
 {"startedDateTime": "2026-11-01T10:00:00.5Z", "serverIPAddress": "127.0.0.1", "time": 1.5e3, "cache": {},
  "request": {"method": "POST", "url": "http://127.0.0.1/a", "headers": [{"name": "A", "value": "1"}], "postData": {"text": "q=1"}},
  "response": {"status": 200, "statusText": "OK", "headers": [{"name": "B", "value": "\u00e9"}],
   "content": {"size": 4, "mimeType": "text/plain", "text": "a\n\ud83d\ude00\ud83d\/\"", "compression": 0}}},
 {"response": {"content": {"text": "AAEC", "encoding": "base64", "size": 3}}},
 {"response": {"status": "200"}},
 {}
]}}`

func TestRead(t *testing.T) {
	var body bytes.Buffer
	var got []string
	err := Read(strings.NewReader(sample), &body, func(e *Entry) error {
		text, err := json.Marshal(e)
		got = append(got, string(text)+" "+body.String())
		body.Reset()
		return err
	})
	want := []string{
		`{"Started":"2026-11-01T10:00:00.5Z","IP":"127.0.0.1","Request":{"method":"POST","url":"http://127.0.0.1/a","headers":[{"name":"A","value":"1"}],"postData":{"text":"q=1"}},"Response":{"Status":200,"StatusText":"OK","Headers":[{"name":"B","value":"é"}],"Size":4,"HasText":true,"Base64":false},"Invalid":false} ` + "a\n😀\ufffd/\"",
		`{"Started":"0001-01-01T00:00:00Z","IP":"","Request":{"method":"","url":"","headers":null,"postData":{"text":""}},"Response":{"Status":0,"StatusText":"","Headers":null,"Size":3,"HasText":true,"Base64":true},"Invalid":false} AAEC`,
		`{"Started":"0001-01-01T00:00:00Z","IP":"","Request":{"method":"","url":"","headers":null,"postData":{"text":""}},"Response":{"Status":0,"StatusText":"","Headers":null,"Size":-1,"HasText":false,"Base64":false},"Invalid":true} `,
		`{"Started":"0001-01-01T00:00:00Z","IP":"","Request":{"method":"","url":"","headers":null,"postData":{"text":""}},"Response":{"Status":0,"StatusText":"","Headers":null,"Size":-1,"HasText":false,"Base64":false},"Invalid":false} `,
	}
	if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%v\n%s", err, strings.Join(got, "\n"))
	}
}

// TestHostile reads damaged and hostile files.
func TestHostile(t *testing.T) {
	in := func(entries string) string { return `{"log":{"entries":[` + entries + `]}}` }
	content := func(members string) string { return in(`{"response":{"content":{` + members + `}}}`) }
	for _, test := range []struct{ name, text, want string }{
		{"no entry", in(""), ""},
		{"empty file", "", "truncated"},
		{"not JSON", "WARC/1.1\r\n", "integrity"},
		{"another document", `{"a":1}`, "integrity"},
		{"a list", `[]`, "integrity"},
		{"entries is no list", `{"log":{"entries":{}}}`, "integrity"},
		{"two lists of entries", `{"log":{"entries":[],"entries":[]}}`, "integrity"},
		{"cut entry", `{"log":{"entries":[{"request":{`, "truncated"},
		{"cut text", `{"log":{"entries":[{"response":{"content":{"text":"abc`, "truncated"},
		{"cut escape sequence", `{"log":{"entries":[{"response":{"content":{"text":"\u00`, "truncated"},
		{"nested lists", strings.Repeat("[", 1000), "integrity"},
		{"nested lists in an entry", in(`{"x":` + strings.Repeat("[", 1_000_000)), "integrity"},
		{"nested lists in a small value", in(`{"request":` + strings.Repeat("[", 1_000_000)), "integrity"},
		{"no comma", in(`{} {}`), "integrity"},
		{"no value", in(`{"request":}`), "integrity"},
		{"comma before the end", in(`{},`), "integrity"},
		{"escape sequence", content(`"text":"\x"`), "integrity"},
		{"hexadecimal digits", content(`"text":"\u12G4"`), "integrity"},
		{"control character", content("\"text\":\"\x00\""), "integrity"},
		{"unknown coding", content(`"text":"x","encoding":"gzip"`), "invalid"},
		{"two texts", content(`"text":"x","text":"y"`), "invalid"},
		{"text is a number", content(`"text":1`), ""},
		{"size is a text", content(`"size":"1"`), "invalid"},
		{"huge size", content(`"size":1e999`), "invalid"},
		{"long URL", in(`{"request":{"url":"` + strings.Repeat("x", maxSmall) + `"}}`), "invalid"},
		{"long name", in(`{"` + strings.Repeat("x", 1<<20) + `":1}`), ""},
		{"response is a text", in(`{"response":"x"}`), "integrity"},
	} {
		got := ""
		err := Read(strings.NewReader(test.text), io.Discard, func(e *Entry) error {
			if e.Invalid {
				got = "invalid"
			}
			return nil
		})
		if err != nil {
			got = fetch.FaultOf(err).String()
		}
		if got != test.want {
			t.Errorf("%s: %q, %v, want %q", test.name, got, err, test.want)
		}
	}
}

// TestMemory reads a body of 64 MiB in base64, and a long URL, in constant memory.
func TestMemory(t *testing.T) {
	for _, start := range []string{`{"log":{"entries":[{"response":{"content":{"text":"`, `{"log":{"entries":[{"request":{"url":"`} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		err := Read(io.MultiReader(strings.NewReader(start), io.LimitReader(letters{}, 64<<20)), io.Discard, nil)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; fetch.FaultOf(err) != fetch.Truncated || n > 24<<20 {
			t.Errorf("%v, %d bytes allocated in %v", err, n, time.Since(began))
		}
	}
}

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'A'
	}
	return len(p), nil
}

// FuzzRead compares the strings with those of encoding/json.
func FuzzRead(f *testing.F) {
	f.Add(sample)
	f.Add(`{"log":{"entries":[{"response":{"content":{"text":"\ud800\u0041"}}}]}}`)
	f.Add(`{"log":{"entries":[{"respoNse":{"content":{"text":"a"}}}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var body bytes.Buffer
		var bodies []string
		err := Read(strings.NewReader(text), &body, func(*Entry) error {
			bodies = append(bodies, body.String())
			body.Reset()
			return nil
		})
		var parsed struct {
			Log struct {
				Entries []struct {
					Response struct{ Content struct{ Text string } }
				}
			}
		}
		if err != nil || json.Unmarshal([]byte(text), &parsed) != nil || len(parsed.Log.Entries) != len(bodies) {
			return // encoding/json rejects more texts, and ignores the case of names
		}
		for _, name := range []string{`"response"`, `"content"`, `"text"`} {
			if strings.Count(text, name) != len(bodies) {
				return // names that are repeated, escaped, or equal but for their case
			}
		}
		for i, e := range parsed.Log.Entries {
			if string([]rune(bodies[i])) != string([]rune(e.Response.Content.Text)) && // each invalid byte becomes U+FFFD
				e.Response.Content.Text != "" {
				t.Errorf("%q, want %q", bodies[i], e.Response.Content.Text)
			}
		}
	})
}
