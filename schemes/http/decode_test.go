package http_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/schemes/http"
)

func encode(t testing.TB, coding string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch coding {
	case "gzip":
		w, err = gzip.NewWriterLevel(&b, 4)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "raw":
		w, err = flate.NewWriter(&b, 9)
	case "br":
		w = brotli.NewWriterLevel(&b, 4)
	case "zstd":
		w, err = zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	}
	if err == nil {
		_, err = w.Write(data)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func encodedResponse(coding string, body []byte) string {
	return "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Encoding: " + coding + sprintf("\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

func TestDecode(t *testing.T) {
	text := []byte(strings.Repeat("hello ", 5000))
	gz := encode(t, "gzip", text)
	twice := append(append([]byte{}, gz...), gz...)
	for _, test := range []struct {
		name, coding string
		body         []byte
		want         string
		fault        fetch.Fault
	}{
		{"gzip", "gzip", gz, string(text), 0},
		{"x-gzip in capitals", "X-GZIP", gz, string(text), 0},
		{"zlib", "deflate", encode(t, "deflate", text), string(text), 0},
		{"bare deflate", "deflate", encode(t, "raw", text), string(text), 0},
		{"br", "br", encode(t, "br", text), string(text), 0},
		{"zstd", "zstd", encode(t, "zstd", text), string(text), 0},
		{"two codings", "gzip, br", encode(t, "br", gz), string(text), 0},
		{"identity", "identity", text, string(text), 0},
		{"several gzip members", "gzip", twice, string(text) + string(text), 0},
		{"bytes after the end", "gzip", append(append([]byte{}, gz...), "\x00\x00junk"...), string(text), 0},
		{"empty", "gzip", nil, "", 0},
		{"truncated", "gzip", gz[:len(gz)-9], "", fetch.Truncated},
		{"truncated gzip header", "gzip", gz[:3], "", fetch.Truncated},
		{"truncated zstd", "zstd", encode(t, "zstd", text)[:20], "", fetch.Truncated},
		{"corrupt", "gzip", append(append([]byte{}, gz[:len(gz)-8]...), "12345678"...), "", fetch.Protocol},
		{"invalid gzip", "gzip", []byte("<html>hello</html>"), "", fetch.Protocol},
		{"invalid br", "br", []byte("\xff\xff\xff\xff\xff\xff"), "", fetch.Protocol},
		{"invalid zstd", "zstd", []byte("hello, hello"), "", fetch.Protocol},
		{"three codings", "gzip, gzip, gzip", gz, "", fetch.Bomb},
		{"unknown", "compress", gz, "", fetch.Unsupported},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &script{replies: [][]string{{encodedResponse(test.coding, test.body)}}}
			resp, body, err := get(t, s.newClient(t, http.Options{Compressed: true}), newRequest("http://h/"))
			if test.fault != 0 {
				if !errors.Is(err, test.fault) {
					t.Errorf("got %d bytes, %v, want %v", len(body), err, test.fault)
				}
				return
			}
			if err != nil || body != test.want {
				t.Fatalf("got %d bytes, %v, want %d", len(body), err, len(test.want))
			}
			if test.coding != "identity" && (resp.Size != -1 || resp.Validator != "") {
				t.Errorf("size %d, validator %q", resp.Size, resp.Validator)
			}
		})
	}
}

// TestNotDecoded checks that a coding is kept if the request did not accept it.
func TestNotDecoded(t *testing.T) {
	gz := string(encode(t, "gzip", []byte("hello")))
	s := &script{replies: [][]string{{encodedResponse("gzip", []byte(gz))}}}
	resp, body, err := get(t, s.newClient(t, http.Options{}), newRequest("http://h/"))
	if err != nil || body != gz || resp.Size != int64(len(gz)) || resp.Validator == "" {
		t.Errorf("got %q, %+v, %v", body, resp, err)
	}
}

// TestDecodeTruncated checks that a body with a content coding is compared with
// its Content-Length.
func TestDecodeTruncated(t *testing.T) {
	gz := encode(t, "gzip", []byte("hello"))
	s := &script{replies: [][]string{{strings.Replace(encodedResponse("gzip", gz), "Content-Length: ", "Content-Length: 9", 1)}}}
	if _, body, err := get(t, s.newClient(t, http.Options{Compressed: true}), newRequest("http://h/")); !errors.Is(err, fetch.Truncated) {
		t.Errorf("got %q, %v", body, err)
	}
}

// repeat returns n copies of p.
func repeat(p []byte, n int) []byte { return bytes.Repeat(p, n) }

// TestBombs checks that a small body with a large decoded size fails with
// fetch.Bomb and uses little memory.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("decompresses large bodies")
	}
	zeros := repeat([]byte{0}, 32<<20)
	gz := encode(t, "gzip", zeros)
	member := encode(t, "gzip", nil)
	for _, test := range []struct {
		name, coding string
		body         []byte
		want         error
	}{
		{"gzip", "gzip", gz, fetch.Bomb},
		{"br", "br", encode(t, "br", zeros), fetch.Bomb},
		{"zstd", "zstd", encode(t, "zstd", zeros), fetch.Bomb},
		{"gzip in gzip", "gzip, gzip", encode(t, "gzip", gz), fetch.Bomb},
		{"a million empty members", "gzip", repeat(member, 1_000_000), nil},
		{"empty members in gzip", "gzip, gzip", encode(t, "gzip", repeat(member, 1_000_000)), fetch.Bomb},
	} {
		t.Run(test.name, func(t *testing.T) {
			short.Sample(t, 3)
			s := &script{replies: [][]string{{encodedResponse(test.coding, test.body)}}}
			client := s.newClient(t, http.Options{Compressed: true})
			growth := heapGrowth(func() {
				resp, err := client.Do(t.Context(), newRequest("http://h/"))
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				n, err := io.Copy(io.Discard, resp.Body)
				if !errors.Is(err, test.want) || n > freeRatio+(1<<20) {
					t.Errorf("%d bytes, %v, want %v", n, err, test.want)
				}
			})
			if growth > 64<<20 {
				t.Errorf("memory grew by %d MiB", growth>>20)
			}
		})
	}
}

const freeRatio = 10 << 20

// heapGrowth returns the growth of the heap during f in bytes.
func heapGrowth(f func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.HeapSys-after.HeapReleased) - int64(before.HeapSys-before.HeapReleased)
}
