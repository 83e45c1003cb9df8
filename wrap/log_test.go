package wrap

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// records parses the output of a JSON handler, without the time.
func records(t *testing.T, b []byte) (all []map[string]any) {
	t.Helper()
	for line := range bytes.Lines(b) {
		var r map[string]any
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		delete(r, "time")
		all = append(all, r)
	}
	return all
}

func TestLog(t *testing.T) {
	ms := float64(time.Millisecond)
	common := map[string]any{"op": "get", "scheme": "ftp", "url": "ftp://u:***@h/x?token=***&a=b"}
	with := func(attrs map[string]any) map[string]any {
		for k, v := range common {
			attrs[k] = v
		}
		return attrs
	}
	for name, c := range map[string]struct {
		resp *fetch.Response
		err  error
		body io.Reader
		read bool
		want []map[string]any
	}{
		"good": {
			resp: &fetch.Response{Code: 226, Kind: fetch.Document, Size: 5, Offset: 3, Peer: netip.MustParseAddr("198.41.0.4")},
			body: strings.NewReader("lo"), read: true,
			want: []map[string]any{
				with(map[string]any{"level": "INFO", "msg": "response", "code": 226.0, "kind": "document", "size": 5.0, "offset": 3.0, "peer": "198.41.0.4", "duration": 10 * ms}),
				with(map[string]any{"level": "INFO", "msg": "body", "bytes": 2.0, "closed": false, "duration": 10 * ms}),
			},
		},
		"failed": {
			err: fetch.Connect.Errorf("connection refused"),
			want: []map[string]any{
				with(map[string]any{"level": "WARN", "msg": "response", "fault": "connect", "error": "connection refused", "duration": 10 * ms}),
			},
		},
		"the server said no": {
			resp: &fetch.Response{Code: 550, Size: -1, Fault: fetch.NotFound.Errorf("no such \x1b file")},
			body: strings.NewReader(""), read: true,
			want: []map[string]any{
				with(map[string]any{"level": "WARN", "msg": "response", "fault": "not-found", "error": "no such \x1b file", "code": 550.0, "kind": "unknown", "size": -1.0, "duration": 10 * ms}),
				with(map[string]any{"level": "INFO", "msg": "body", "bytes": 0.0, "closed": false, "duration": 10 * ms}),
			},
		},
		"broke off": {
			resp: &fetch.Response{Size: 9, Location: uri.MustParse("http://u:secret@x/?sig=secret")},
			body: io.MultiReader(strings.NewReader("abc"), &failing{fetch.Truncated}), read: true,
			want: []map[string]any{
				with(map[string]any{"level": "INFO", "msg": "response", "code": 0.0, "kind": "unknown", "size": 9.0, "location": "http://u:***@x/?sig=***", "duration": 10 * ms}),
				with(map[string]any{"level": "WARN", "msg": "body", "fault": "truncated", "error": "truncated", "bytes": 3.0, "closed": false, "duration": 10 * ms}),
			},
		},
		"closed early": {
			resp: &fetch.Response{Size: 9},
			body: strings.NewReader("abcdefghi"),
			want: []map[string]any{
				with(map[string]any{"level": "INFO", "msg": "response", "code": 0.0, "kind": "unknown", "size": 9.0, "duration": 10 * ms}),
				with(map[string]any{"level": "INFO", "msg": "body", "bytes": 0.0, "closed": true, "duration": 10 * ms}),
			},
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			d := Log(slog.New(slog.NewJSONHandler(&out, nil)))(fetch.DriverFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
				time.Sleep(10 * time.Millisecond)
				if c.resp != nil {
					c.resp.Body = io.NopCloser(c.body)
				}
				return c.resp, c.err
			}))
			resp, err := d.Do(t.Context(), request("ftp://u:secret@h/x?token=secret&a=b"))
			if err == nil {
				if c.read {
					io.Copy(io.Discard, resp.Body)
				}
				resp.Body.Close()
				resp.Body.Close()
			}
			if got := records(t, out.Bytes()); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s: got %v\nwant %v", name, got, c.want)
			}
			if strings.Contains(out.String(), "secret") || bytes.ContainsRune(out.Bytes(), 0x1b) {
				t.Errorf("%s: a secret or an escape in %s", name, out.String())
			}
		})
	}
}

func TestMasked(t *testing.T) {
	for url, want := range map[string]string{
		"http://h/?a=b":                      "http://h/?a=b",
		"http://h/":                          "http://h/",
		"http://u:p@h/?":                     "http://u:***@h/?",
		"http://h/?Access_Token=x&b=c":       "http://h/?Access_Token=***&b=c",
		"http://h/?X-Amz-Signature=x%26y#f":  "http://h/?X-Amz-Signature=***#f",
		"http://h/?api_key=x&apikey=y&key":   "http://h/?api_key=***&apikey=***&key",
		"http://h/?password=x&session=y=z&&": "http://h/?password=***&session=***&&",
		"gopher://h/7/search?monkey":         "gopher://h/7/search?monkey",
	} {
		if got := masked(uri.MustParse(url)); got != want {
			t.Errorf("%s: got %s, want %s", url, got, want)
		}
	}
}
