package s3

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestRepeat checks which responses cause another request, and which error is
// returned.
func TestRepeat(t *testing.T) {
	const denied = "<Error><Code>AccessDenied</Code><Message>no</Message></Error>"
	const success = "<CompleteMultipartUploadResult><ChecksumSHA256>x</ChecksumSHA256></CompleteMultipartUploadResult>"
	type answer struct {
		status int
		text   string
	}
	for _, c := range []struct {
		oddity   string
		answers  []answer // the last is repeated
		requests int
		want     fetch.Fault // or 0 for success
	}{
		{"success", []answer{{200, success}}, 1, 0},
		{"busy once", []answer{{503, ""}, {200, success}}, 2, 0},
		{"busy twice", []answer{{500, ""}, {429, "<Error><Code>SlowDown</Code></Error>"}, {200, success}}, 3, 0},
		{"always busy", []answer{{503, "busy"}}, 3, fetch.TryLater},
		{"another upload", []answer{{409, "<Error><Code>OperationAborted</Code></Error>"}, {200, success}}, 2, 0},
		{"denied", []answer{{403, denied}}, 1, fetch.Denied},
		{"not implemented", []answer{{501, ""}}, 1, fetch.Unsupported},
		{"the upload has ended", []answer{{404, "<Error><Code>NoSuchUpload</Code></Error>"}}, 1, fetch.TryLater},
		{"error with the status of a success", []answer{{200, "<Error><Code>InternalError</Code></Error>"}, {200, success}}, 2, 0},
		{"denied with the status of a success", []answer{{200, denied}}, 1, fetch.Denied},
		{"other document", []answer{{200, "<ListBucketResult/>"}}, 1, fetch.Protocol},
		{"no document", []answer{{200, ""}}, 1, fetch.Protocol},
		{"redirect", []answer{{307, "<Error><Code>TemporaryRedirect</Code></Error>"}}, 1, fetch.Usage},
	} {
		requests := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if body, err := io.ReadAll(r.Body); string(body) != "text" || err != nil {
				t.Errorf("%s: body %q, %v", c.oddity, body, err)
			}
			a := c.answers[min(requests, len(c.answers)-1)]
			requests++
			w.WriteHeader(a.status)
			io.WriteString(w, a.text)
		}))
		s := openAs(t, strings.TrimPrefix(server.URL, "http://"), "warcs", environment(peer.User, peer.Password))
		s.api.pause = time.Nanosecond
		r := call{method: http.MethodPost, key: "object"}
		r.body, r.digest = content(strings.NewReader("text"), 0, 4, [32]byte{})
		var out joined
		err := s.api.document(t.Context(), r, "CompleteMultipartUploadResult", &out)
		server.Close()
		if err != nil && fetch.FaultOf(classify(err)) != c.want || err == nil && (c.want != 0 || out.ChecksumSHA256 != "x") || requests != c.requests {
			t.Errorf("%s: %d requests, %v, %+v", c.oddity, requests, err, out)
		}
	}
}

// TestClock sends requests from a machine whose clock is wrong. The client adopts
// the time of the server.
func TestClock(t *testing.T) {
	var dates []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dates = append(dates, r.Header.Get("X-Amz-Date"))
		w.Header().Set("Date", "Mon, 01 Jan 2035 12:00:00 GMT")
		if !strings.HasPrefix(dates[len(dates)-1], "20350101T") {
			w.WriteHeader(http.StatusForbidden)
			io.WriteString(w, "<Error><Code>RequestTimeTooSkewed</Code></Error>")
		}
	}))
	defer server.Close()
	s := openAs(t, strings.TrimPrefix(server.URL, "http://"), "warcs", environment(peer.User, peer.Password))
	s.api.pause = time.Nanosecond
	for range 2 {
		if _, err := s.api.empty(t.Context(), call{method: http.MethodDelete, key: "object"}); err != nil {
			t.Error(err)
		}
	}
	if len(dates) != 3 {
		t.Errorf("times of the requests: %q", dates)
	}
}

// TestServer checks the host and the path of a bucket.
func TestServer(t *testing.T) {
	for _, c := range []struct{ oddity, endpoint, region, bucket, want string }{
		{"AWS", "", "eu-west-1", "warcs", "https://warcs.s3.eu-west-1.amazonaws.com/a%20b"},
		{"China", "", "cn-north-1", "warcs", "https://warcs.s3.cn-north-1.amazonaws.com.cn/a%20b"},
		{"dot in the name", "", "eu-west-1", "my.warcs", "https://s3.eu-west-1.amazonaws.com/my.warcs/a%20b"},
		{"other server", "http://h:9000", "us-east-1", "warcs", "http://h:9000/warcs/a%20b"},
		{"invalid region", "", "a b", "warcs", ""},
		{"host in the region", "", "h.example/", "warcs", ""},
	} {
		api, err := newClient(nil, c.endpoint, c.region, c.bucket, environment("id", "key"))
		if err != nil {
			if c.want != "" || fetch.FaultOf(err) != fetch.Usage {
				t.Errorf("%s: %v", c.oddity, err)
			}
			continue
		}
		req, err := api.request(t.Context(), call{method: http.MethodGet, key: "a b"})
		if err != nil || req.URL.String() != c.want {
			t.Errorf("%s: %v, %v", c.oddity, req, err)
		}
	}
}
