package cdp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// browser answers the calls of a connection with the messages that answer
// returns.
func browser(t *testing.T, answer func(id int64, method string) string) (c *Conn, events <-chan Event) {
	t.Helper()
	got := make(chan Event, 8)
	c = New(func(e Event) { got <- e })
	fromUs, toBrowser := io.Pipe()
	fromBrowser, toUs := io.Pipe()
	go func() {
		r := bufio.NewReader(fromUs)
		for {
			text, err := r.ReadBytes(0)
			if err != nil {
				toUs.Close()
				return
			}
			var m struct {
				ID     int64
				Method string
			}
			json.Unmarshal(text[:len(text)-1], &m)
			if m.Method == "Browser.close" {
				toUs.Close()
				return
			}
			io.WriteString(toUs, answer(m.ID, m.Method))
		}
	}()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.Run(fromBrowser, toBrowser)
	}()
	t.Cleanup(func() { toUs.Close(); <-ended })
	return c, got
}

func TestCall(t *testing.T) {
	c, events := browser(t, func(id int64, method string) string {
		text, _ := json.Marshal(id)
		switch method {
		case "fails":
			return `{"id":` + string(text) + `,"error":{"code":-1,"message":"no"}}` + "\x00"
		case "event":
			return `{"sessionId":"S","method":"Page.loaded","params":{"a":1}}` + "\x00" + `{"id":` + string(text) + `,"result":{}}` + "\x00"
		case "garbage":
			return "not JSON\x00" + `{"id":999,"result":{}}` + "\x00" + `{"id":` + string(text) + `,"result":{}}` + "\x00"
		case "long":
			return `"` + strings.Repeat("x", MaxMessage) + `"` + "\x00" + `{"id":` + string(text) + `,"result":{"value":2}}` + "\x00"
		case "long event":
			return `{"method":"x","params":"` + strings.Repeat("x", maxEvent) + `"}` + "\x00" + `{"id":` + string(text) + `,"result":{"value":3}}` + "\x00"
		case "long reply":
			return `{"id":` + string(text) + `,"result":{"text":"` + strings.Repeat("x", maxEvent) + `","value":4}}` + "\x00"
		case "silent":
			return ""
		}
		return `{"id":` + string(text) + `,"result":{"value":1}}` + "\x00"
	})
	var got struct{ Value int }
	if err := c.Call(t.Context(), "", "plain", nil, &got); err != nil || got.Value != 1 {
		t.Errorf("plain: %v, %v", got, err)
	}
	var failed *Error
	if err := c.Call(t.Context(), "", "fails", nil, nil); !errors.As(err, &failed) || failed.Method != "fails" {
		t.Errorf("rejected call: %v", err)
	}
	if err := c.Call(t.Context(), "S", "event", map[string]int{"x": 1}, nil); err != nil {
		t.Error(err)
	}
	if e := <-events; e.Session != "S" || e.Method != "Page.loaded" {
		t.Errorf("event: %+v", e)
	}
	for _, method := range []string{"garbage", "long", "long event", "long reply"} {
		if err := c.Call(t.Context(), "", method, nil, nil); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
	if len(events) > 0 {
		t.Errorf("a long event was not discarded: %.100q", <-events)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Call(canceled, "", "silent", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled call: %v", err)
	}
	for range 2 { // also after the end
		if err := c.Call(t.Context(), "", "Browser.close", nil, nil); !errors.Is(err, ErrClosed) {
			t.Errorf("call of a closed browser: %v", err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("{\"id\":1,\"result\":{}}\x00{\"method\":\"a\"}\x00"))
	f.Add([]byte("\x00\x00{"))
	f.Fuzz(func(t *testing.T, text []byte) {
		n := 0
		c := New(func(Event) { n++ })
		c.Run(bytes.NewReader(text), io.Discard)
		if n > bytes.Count(text, []byte{0}) {
			t.Errorf("%d events in %q", n, text)
		}
	})
}
