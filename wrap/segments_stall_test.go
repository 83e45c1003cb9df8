package wrap_test

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/wrap"
)

type fixedResolver struct{}

func (fixedResolver) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
}

// segments returns a script that answers requests for segments of 4 MiB. It
// sends all bytes of the first complete segments, and 1000 bytes of another
// segment. Then it stalls. The script is the same for each connection, because
// any worker can send the request for a segment on any connection.
func segments(complete int) faultnet.Script {
	const size, length = 40 << 20, 4 << 20
	return faultnet.Script{faultnet.Do("segments", func(c *faultnet.Conn) error {
		for {
			first, err := readRange(c)
			if err != nil {
				return err
			}
			n := 1000
			if first < complete*length {
				n = length
			}
			_, err = fmt.Fprintf(c, "HTTP/1.1 206 Partial Content\r\nContent-Type: text/plain\r\nETag: \"v\"\r\n"+
				"Content-Range: bytes %d-%d/%d\r\nContent-Length: %d\r\n\r\n%s", first, first+length-1, size, length, strings.Repeat("x", n))
			if err != nil {
				return err
			}
		}
	})}
}

// readRange reads the head of a request and returns the first byte of its range.
func readRange(c *faultnet.Conn) (first int, err error) {
	for {
		line, err := c.ReadLine()
		if err != nil {
			return 0, err
		}
		if line == "\r\n" {
			return first, nil
		}
		if text, ok := strings.CutPrefix(line, "Range: bytes="); ok {
			text, _, _ = strings.Cut(text, "-")
			if first, err = strconv.Atoi(text); err != nil {
				return 0, err
			}
		}
	}
}

// TestSegmentsStall checks that Close does not wait for a stalled segment, that
// a stalled segment ends with a timeout, and that a caller that pauses does not
// end the transfer.
func TestSegmentsStall(t *testing.T) {
	for _, c := range []struct {
		name  string
		read  int           // bytes that the caller reads
		pause time.Duration // before the rest is read
		rest  bool          // read to the end, instead of closing the body
	}{
		{"close in the first segment", 10, 0, false},
		{"close in the second segment", 4<<20 + 10, 0, false},
		{"close after a pause", 10, 4 * time.Second, false},
		{"timeout", 10, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := faultnet.NewNetwork(t)
				server := network.Serve("8.8.8.8:80", segments(c.read/(4<<20)))
				policy := fetch.Typed()
				policy.Idle = 8 * time.Second
				client := fetch.New(fetch.Options{
					Policy: policy, Dial: network.Dial, Resolver: fixedResolver{}, Wrap: []fetch.Middleware{wrap.Segments(2)},
				}, http.Schemes(http.Options{})...)
				defer client.Close()
				resp, err := client.Do(t.Context(), &fetch.Request{URL: uri.MustParse("http://h/x")})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.ReadFull(resp.Body, make([]byte, c.read)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(c.pause)
				start, want := time.Now(), time.Duration(0)
				if c.rest {
					want = policy.Idle
					if _, err := io.Copy(io.Discard, resp.Body); fetch.FaultOf(err) != fetch.Timeout {
						t.Errorf("got %v", err)
					}
				}
				resp.Body.Close()
				if took := time.Since(start).Truncate(10 * time.Millisecond); took != want { // a check of a connection takes 1 ms
					t.Errorf("took %v, want %v", took, want)
				}
				if err := server.Err(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
