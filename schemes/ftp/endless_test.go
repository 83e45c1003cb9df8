package ftp_test

import (
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/schemes/ftp"
)

// flood sends a text again and again: 300 MB if nobody hangs up.
func flood(text string) faultnet.Step {
	return faultnet.Do("flood", func(c *faultnet.Conn) error {
		part := []byte(strings.Repeat(text, 1<<15))
		for range 300<<20/len(part) + 1 {
			if _, err := c.Write(part); err != nil {
				return err
			}
		}
		return nil
	})
}

// allocated returns the bytes that f allocated, freed ones included.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestHostileMemory: what a server says does not stay in memory.
func TestHostileMemory(t *testing.T) {
	for name, script := range map[string]faultnet.Script{
		"a line of 300 MB":   {faultnet.Send("220 "), flood("0123456789")},
		"lines for 300 MB":   {faultnet.Send("220-hello\r\n"), flood("220-more\r\n")},
		"replies for 300 MB": {flood("220 more\r\n")},
	} {
		t.Run(name, func(t *testing.T) {
			used := allocated(func() {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, ftp.Options{}, nil, script, nil)
					_, _, err := w.get(t.Context(), "ftp://192.0.2.1/x")
					wantFault(t, "", err, fetch.Protocol)
					w.end()
				})
			})
			if used > 4<<20 {
				t.Errorf("%d bytes were allocated", used)
			}
		})
	}
}

// TestLongWay: of the replies to many CWDs none stays in memory.
func TestLongWay(t *testing.T) {
	var held uint64
	measure := faultnet.Do("measure", func(*faultnet.Conn) error {
		synctest.Wait() // until all that was said is read
		var now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&now)
		held = now.HeapAlloc
		return nil
	})
	synctest.Test(t, func(t *testing.T) {
		control := faultnet.Script{faultnet.Send("220 (vsFTPd 3.0.3)\r\n"), obliging(
			faultnet.On("^CWD z$", 0, measure, faultnet.Send("250 ok\r\n")),
			faultnet.On("^CWD", 0, faultnet.Send("250 "+strings.Repeat("x", 60<<10)+"\r\n")))}
		w := newWorld(t, ftp.Options{}, nil, control, faultnet.Script{faultnet.Send("hello\r\n")})
		body, _, err := w.get(t.Context(), "ftp://192.0.2.1/"+strings.Repeat("a/", 500)+"z/x")
		wantFault(t, body, err, 0)
		w.end()
	})
	if held > 16<<20 {
		t.Errorf("%d bytes are held", held)
	}
}

// TestEndless: bodies and listings that do not end, on a server that tells no
// size, end at a limit.
func TestEndless(t *testing.T) {
	control := func() faultnet.Script {
		return faultnet.Script{faultnet.Send("220 hello\r\n"), obliging(
			faultnet.On("^(SIZE|MDTM)", 0, faultnet.Send("500 what?\r\n")),
			faultnet.On("^(RETR|LIST|NLST)", 0, faultnet.Send("150 ok\r\n")))}
	}
	limited := func(o *fetch.Options) { o.Policy.MaxBody = 1 << 20 }
	for _, test := range []struct {
		name   string
		url    string
		data   string
		change func(*fetch.Options)
		want   fetch.Fault
	}{
		{"body", "x", "0123456789", limited, fetch.TooLarge},
		{"listing", "", "0123456789\r\n", limited, fetch.TooLarge},
		{"entries", "", "x\r\n", nil, fetch.TooLarge},
		{"one line of a listing", "", "0123456789", nil, fetch.Protocol},
	} {
		t.Run(test.name, func(t *testing.T) {
			short.Sample(t, 3)
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, ftp.Options{NamesOnly: true}, test.change, control(), faultnet.Script{flood(test.data)})
				defer w.end()
				if test.change != nil {
					body, _, err := w.get(t.Context(), "ftp://192.0.2.1/"+test.url)
					wantFault(t, body, err, test.want)
					if len(body) != 1<<20 {
						t.Errorf("got %d bytes", len(body))
					}
					return
				}
				resp, err := w.client.Get(t.Context(), "ftp://192.0.2.1/")
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for _, err = range resp.Entries() {
					n++
				}
				wantFault(t, "", err, test.want)
				if n > 1<<21 {
					t.Errorf("%d entries", n)
				}
			})
		})
	}
}

// TestSlowListing checks that a server cannot hold open the start of a listing,
// which the driver reads before it returns the response.
func TestSlowListing(t *testing.T) {
	for name, second := range map[string]faultnet.Script{
		"the first listing":  nil,
		"the second listing": {faultnet.Send("-rw-r--r-- 1 a a 7 Mar 1 12:00 x\r\n")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := faultnet.NewNetwork(t)
				control := n.Serve("192.0.2.1:21", faultnet.Script{faultnet.Send("220 hello\r\n"), obliging()})
				slow := faultnet.Script{faultnet.SendSlow(strings.Repeat("x", 1000), 1, 50*time.Second)}
				if second != nil {
					n.Serve("192.0.2.1:40000", second, slow)
				} else {
					n.Serve("192.0.2.1:40000", slow)
				}
				w := &world{Network: n, control: control, client: fetch.New(fetch.Options{Policy: fetch.Typed(), Dial: n.Dial}, ftp.Schemes(ftp.Options{Hidden: true})...)}
				body, took, err := w.get(t.Context(), "ftp://192.0.2.1/")
				wantFault(t, body, err, fetch.Timeout)
				if took > 3*time.Minute {
					t.Errorf("took %v", took)
				}
				w.end()
			})
		})
	}
}

// TestSlowWay checks that a server cannot hold a request open with slow replies to
// many CWD commands, to which a link of another server can lead.
func TestSlowWay(t *testing.T) {
	for name, greeting := range map[string]string{"one command at a time": "220 hello\r\n", "all commands at once": "220 (vsFTPd 3.0.3)\r\n"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				control := faultnet.Script{faultnet.Send(greeting), obliging(
					faultnet.On("^CWD", 0, faultnet.Delay(50*time.Second), faultnet.Send("250 ok\r\n")))}
				w := newWorld(t, ftp.Options{}, nil, control, nil)
				body, took, err := w.get(t.Context(), "ftp://192.0.2.1/"+strings.Repeat("a/", 500)+"x")
				wantFault(t, body, err, fetch.Timeout)
				if took > 10*time.Minute {
					t.Errorf("took %v", took)
				}
				w.end()
			})
		})
	}
}
