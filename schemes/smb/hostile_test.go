package smb

import (
	"bytes"
	"context"
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/internal/test/schemetest"
)

// on returns a function that changes the reply with the given number to a
// command.
func on(command uint16, number int, f func(*reply)) func(*reply) {
	return func(r *reply) {
		if r.command == command && r.number == number {
			f(r)
		}
	}
}

// status returns a function that replaces a reply by an error.
func status(code uint32) func(*reply) {
	return func(r *reply) { r.status, r.body = code, body(9, 0, uint16(9)) }
}

// set returns a function that changes bytes of the body of a reply.
func set(fields ...any) func(*reply) {
	return func(r *reply) {
		change := body(len(r.body), fields...)
		for i, b := range change {
			if b != 0 {
				r.body[i] = b
			}
		}
	}
}

// link replaces a reply by a symbolic link to another file.
func link(r *reply) {
	target := []byte("o\x00")
	data := append(body(28, 0, uint32(24+len(target)*2), 4, uint32(0x4c4d5953), 8, uint32(0xa000000c), 12, uint16(12+2*len(target)),
		18, uint16(len(target)), 22, uint16(len(target)), 24, uint32(1)), append(target, target...)...)
	r.status, r.body = stoppedOnSymlink, append(body(8, 0, uint16(9), 4, uint32(len(data))), data...)
}

func raw(text string) func(*reply) { return func(r *reply) { r.raw = []byte(text) } }

// TestHostile connects to servers that violate the protocol.
func TestHostile(t *testing.T) {
	padded := func(n int) func(*reply) { return func(r *reply) { r.body = append(r.body, make([]byte, n)...) } }
	overlapping := dirEntry("x", 0, 0)
	binary.LittleEndian.PutUint32(overlapping, 8)
	long := dirEntry("x", 0, 0)
	binary.LittleEndian.PutUint32(long[60:], 0x7ffffffe)
	batch := func(b []byte) func(*reply) {
		return func(r *reply) {
			if r.command == cmdQueryDirectory {
				r.status, r.body = 0, append(body(8, 0, uint16(9), 2, uint16(72), 4, uint32(len(b))), b...)
			}
		}
	}
	for _, test := range []struct {
		name   string
		change func(*reply)
		path   string
		want   string
	}{
		{"good file", nil, "f", "document of 10 bytes"},
		{"good directory", nil, "d/", "menu of 2"},
		{"root", nil, "", "menu of 2"},
		{"not SMB", on(cmdNegotiate, 0, raw("SSH-2.0-x\r\n"+strings.Repeat("x", 100))), "f", "protocol"},
		{"only SMB 1", on(cmdNegotiate, 0, raw("\xffSMB"+strings.Repeat("\x00", 100))), "f", "unsupported"},
		{"short message", on(cmdNegotiate, 0, raw("\xfeSMB")), "f", "protocol"},
		{"long message before the login", on(cmdNegotiate, 0, padded(maxLogin)), "f", "protocol"},
		{"long message", on(cmdCreate, 0, padded(maxMessage)), "f", "protocol"},
		{"unknown version", on(cmdNegotiate, 0, set(4, uint16(0x0f0f))), "f", "protocol"},
		{"no version", on(cmdNegotiate, 0, func(r *reply) { r.body[4], r.body[5] = 0xff, 2 }), "f", "protocol"},
		{"many contexts", on(cmdNegotiate, 0, func(r *reply) { copy(r.body[4:], "\x11\x03\xff\xff") }), "f", "protocol"},
		{"encryption without keys", func(r *reply) {
			on(cmdNegotiate, 0, func(r *reply) { copy(r.body[4:], "\x11\x03\x00\x00") })(r)
			on(cmdSessionSetup, 1, func(r *reply) { r.body[2] = 4 })(r)
		}, "f", "protocol"},
		{"encrypted message without keys", on(cmdCreate, 0, raw("\xfdSMB"+strings.Repeat("\x01", 38)+"\x01\x00\x07"+strings.Repeat("\x00", 100))), "f", "protocol"},
		{"encrypted login", on(cmdSessionSetup, 0, raw("\xfdSMB"+strings.Repeat("\x01", 100))), "f", "protocol"},
		{"short flags in the login", on(cmdSessionSetup, 0, func(r *reply) { r.body = append(r.body[:8:8], challenge([]byte{6, 0, 0, 0, 0, 0, 0, 0})...) }), "f", "protocol"},
		{"no token in the login", on(cmdSessionSetup, 0, func(r *reply) { r.body = r.body[:8] }), "f", "protocol"},
		{"rejected login", on(cmdSessionSetup, 1, status(0xc000006d)), "f", "auth"},
		{"rejected login without a challenge", on(cmdSessionSetup, 0, status(0xc000006d)), "f", "auth"},
		{"access denied in the login", on(cmdSessionSetup, 1, status(accessDenied)), "f", "auth"},
		{"full server", on(cmdSessionSetup, 0, status(0xc00000d0)), "f", "server-temp"},
		{"missing share", on(cmdTreeConnect, 0, status(0xc00000cc)), "f", "not-found"},
		{"denied share", on(cmdTreeConnect, 0, status(accessDenied)), "f", "auth"},
		{"missing file", on(cmdCreate, 0, status(0xc0000034)), "f", "not-found"},
		{"file in use", on(cmdCreate, 0, status(0xc0000043)), "f", "server-temp"},
		{"unknown status", on(cmdCreate, 0, status(0xc0dedead)), "f", "server-perm"},
		{"broken error", on(cmdCreate, 0, func(r *reply) { r.status, r.body = 0xc0dedead, nil }), "f", "protocol"},
		{"referral", on(cmdCreate, 0, status(0xc0000257)), "f", "policy-redirect"},
		{"link in the path", on(cmdCreate, 0, status(stoppedOnSymlink)), "a/f", "server-perm"},
		{"link with a target", on(cmdCreate, 0, link), "f", "server-perm"},
		{"file in a special form", on(cmdQueryInfo, 0, set(8+32, uint32(isPoint))), "f", "document of 10 bytes"},
		{"file as a directory", nil, "f/", "not-found"},
		{"error instead of attributes", on(cmdQueryInfo, 0, status(accessDenied)), "f", "auth"},
		{"short attributes", on(cmdQueryInfo, 0, func(r *reply) { r.body[4] = 50 }), "f", "protocol"},
		{"negative size", on(cmdQueryInfo, 0, set(8+48, int64(-5))), "f", "protocol"},
		{"size of 2^63-1", on(cmdQueryInfo, 0, set(8+48, int64(1<<63-1))), "f", "truncated"},
		{"file becomes shorter", on(cmdQueryInfo, 0, set(8+48, int64(20))), "f", "truncated"},
		{"read without data", on(cmdRead, 0, func(r *reply) { r.body = body(16, 0, uint16(17), 2, uint8(80)) }), "f", "truncated"},
		{"read with less data than announced", on(cmdRead, 0, func(r *reply) { r.body = body(20, 0, uint16(17), 2, uint8(80), 4, uint32(1<<31)) }), "f", "protocol"},
		{"read with more data", on(cmdRead, 0, func(r *reply) {
			r.body = append(body(16, 0, uint16(17), 2, uint8(80), 4, uint32(1000)), make([]byte, 1000)...)
		}), "f", "document of 10 bytes"},
		{"read by single bytes", func(r *reply) {
			if r.command == cmdRead {
				r.body = append(body(16, 0, uint16(17), 2, uint8(80), 4, uint32(1)), 'x')
			}
		}, "f", "document of 10 bytes"},
		{"read error", on(cmdRead, 0, status(0xc000009a)), "f", "server-temp"},
		{"closed after the negotiation", on(cmdNegotiate, 0, func(r *reply) { r.ends = true }), "f", "connect"},
		{"closed without a reply", on(cmdNegotiate, 0, func(r *reply) { r.silent, r.ends = true, true }), "f", "connect"},
		{"closed in a file", on(cmdRead, 0, func(r *reply) { r.silent, r.ends = true, true }), "f", "truncated"},
		{"closed in a directory", on(cmdQueryDirectory, 1, func(r *reply) { r.silent, r.ends = true, true }), "d/", "truncated"},
		{"silence at the start", on(cmdNegotiate, 0, func(r *reply) { r.silent = true }), "f", "timeout"},
		{"silence in the login", on(cmdSessionSetup, 1, func(r *reply) { r.silent = true }), "f", "timeout"},
		{"silence in a file", on(cmdRead, 0, func(r *reply) { r.silent = true }), "f", "timeout"},
		{"silence in a directory", on(cmdQueryDirectory, 0, func(r *reply) { r.silent = true }), "d/", "timeout"},
		{"silence at the end of a file", on(cmdClose, 0, func(r *reply) { r.silent = true }), "f", "document of 10 bytes"},
		{"no credits for the end", func(r *reply) {
			if r.credits = 1; r.command < cmdCreate || r.command == cmdRead {
				r.credits = 0
			}
		}, "f", "document of 10 bytes"},
		{"no credits for a read", func(r *reply) {
			if r.credits = 1; r.command < cmdCreate || r.command == cmdQueryInfo {
				r.credits = 0
			}
		}, "f", "timeout"},
		{"another message number", on(cmdCreate, 0, func(r *reply) { r.id += 1000 }), "f", "timeout"},
		{"another command", on(cmdCreate, 0, func(r *reply) { r.command = cmdRead }), "f", "protocol"},
		{"endless waiting", on(cmdCreate, 0, func(r *reply) { r.status, r.repeat = 0x103, 1000 }), "f", "protocol"},
		{"several replies in a message", on(cmdCreate, 0, func(r *reply) { r.next = 64 }), "f", "protocol"},
		{"overlapping entries", batch(append(overlapping, make([]byte, 8000)...)), "d/", "protocol"},
		{"name of 2 GiB", batch(long), "d/", "protocol"},
		{"short entry", batch(long[:50]), "d/", "protocol"},
		{"no entry", batch(nil), "d/", "protocol"},
		{"entries without an end", on(cmdQueryDirectory, 0, set(8, uint32(1<<30))), "d/", "protocol"},
		{"wrong length of entries", on(cmdQueryDirectory, 0, set(4, uint32(1<<30))), "d/", "protocol"},
		{"endless directory without names", batch(dirEntry(".", 0, isFolder)), "d/", "protocol"},
		{"denied directory", on(cmdQueryDirectory, 0, status(accessDenied)), "d/", "auth"},
		{"empty directory", on(cmdQueryDirectory, 0, status(noSuchFile)), "d/", "menu of 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				c, end := newFake(test.change).client(t)
				defer end()
				resp, err := c.Get(t.Context(), "smb://192.0.2.1/share/"+test.path)
				if got := schemetest.Summary(resp, err); got != test.want {
					t.Errorf("%s, want %s: %v", got, test.want, err)
				}
				if took := time.Since(start); took > 61*time.Second {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

// TestHostileShares requests the shares of servers that violate the protocol.
func TestHostileShares(t *testing.T) {
	const cmdIoctl = 11
	output := func(b []byte) func(*reply) {
		return func(r *reply) {
			r.status = 0
			r.body = append(body(48, 0, uint16(49), 4, uint32(0x11c017), 24, uint32(112), 32, uint32(112), 36, uint32(len(b))), b...)
		}
	}
	accepted := func(r *reply) { // the reply to a bind, without the number of the call
		output(append(body(24, 0, uint8(5), 2, uint8(12), 3, uint8(3), 4, uint8(0x10), 8, uint16(60), 16, uint16(4280), 18, uint16(4280)), make([]byte, 36)...))(r)
	}
	for _, test := range []struct {
		name   string
		change func(*reply)
		want   string
	}{
		{"denied pipes", on(cmdTreeConnect, 0, status(accessDenied)), "auth"},
		{"missing pipe", on(cmdCreate, 0, status(0xc0000034)), "not-found"},
		{"no calls", nil, "unsupported"},
		{"empty reply", on(cmdIoctl, 0, output(nil)), "protocol"},
		{"garbage", on(cmdIoctl, 0, output(make([]byte, 100))), "protocol"},
		{"another call", on(cmdIoctl, 0, accepted), "protocol"},
		{"wrong length", on(cmdIoctl, 0, func(r *reply) { r.status, r.body = 0, body(48, 0, uint16(49), 32, uint32(112), 36, uint32(1<<30)) }), "protocol"},
		{"silence", on(cmdIoctl, 0, func(r *reply) { r.silent = true }), "timeout"},
	} {
		t.Run(test.name, func(t *testing.T) {
			// Real time, because the library can leave a file with a finalizer.
			if test.want == "timeout" && testing.Short() {
				t.Skip("waits for the time limit")
			}
			c, end := newFake(test.change).client(t)
			defer end()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			resp, err := c.Get(ctx, "smb://192.0.2.1/")
			if got := schemetest.Summary(resp, err); got != test.want {
				t.Errorf("%s, want %s: %v", got, test.want, err)
			}
		})
	}
}

// TestUnsolicited checks that an idle connection ends if the server sends a
// message, and that the next request succeeds.
func TestUnsolicited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, end := newFake(on(cmdClose, 0, func(r *reply) { r.repeat, r.pause = 2, time.Second })).client(t)
		defer end()
		for range 3 {
			if got := schemetest.Summary(c.Get(t.Context(), "smb://192.0.2.1/share/f")); got != "document of 10 bytes" {
				t.Error(got)
			}
			time.Sleep(2 * time.Second)
		}
	})
}

// TestGuest checks that a login of a user is not replaced by the login of a
// guest.
func TestGuest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, end := newFake(nil).client(t)
		defer end()
		for user, want := range map[string]string{"alice:x@": "auth", "guest:@": "document of 10 bytes", "": "document of 10 bytes"} {
			if got := schemetest.Summary(c.Get(t.Context(), "smb://"+user+"192.0.2.1/share/f")); got != want {
				t.Errorf("%q: %s", user, got)
			}
		}
	})
}

// TestNamesOutside checks that a name that no URL can have, or that leads
// elsewhere, has no URL.
func TestNamesOutside(t *testing.T) {
	names := []string{"../x", `a\b`, "a/b", "/etc", "c:", "x:y", "a.", "a ", "", "con*", "\x1b[2J", "a\x00b", strings.Repeat("x", 300)}
	var all [][]byte
	for _, name := range names {
		all = append(all, dirEntry(name, 1, 0))
	}
	linkEntry := dirEntry("link", 1, isPoint)
	binary.LittleEndian.PutUint32(linkEntry[64:], 0xa000000c)
	synctest.Test(t, func(t *testing.T) {
		f := newFake(nil)
		f.batches = [][]byte{entriesOf(append(all, linkEntry)...)}
		c, end := f.client(t)
		defer end()
		found, err := schemetest.List(t, c, "smb://192.0.2.1/share/d/")
		if err != nil || len(found) != len(names)+1 {
			t.Errorf("%d entries, %v", len(found), err)
		}
		for _, e := range found {
			if !e.URL.IsZero() {
				t.Errorf("%q: %s", e.Name, e.URL)
			}
		}
	})
}

// TestLongDirectory lists 200,000 entries in little memory.
func TestLongDirectory(t *testing.T) {
	if testing.Short() {
		t.Skip("lists 200,000 entries")
	}
	var batch [][]byte
	for i := range 2000 {
		batch = append(batch, dirEntry(strings.Repeat("n", 100)+string(rune('a'+i%26)), 1, 0))
	}
	f := newFake(nil)
	f.batches = slices.Repeat([][]byte{entriesOf(batch...)}, 100)
	c, end := f.client(t)
	defer end()
	resp, err := c.Get(t.Context(), "smb://192.0.2.1/share/d/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n := 0
	for _, err := range resp.Entries() {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if n != 200_000 {
		t.Errorf("%d entries", n)
	}
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 16<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}

// TestLargeFile retrieves a file of several requests, and a part of it.
func TestLargeFile(t *testing.T) {
	f := newFake(nil)
	f.file = bytes.Repeat([]byte("0123456789abcdef"), 300_000)
	c, end := f.client(t)
	defer end()
	resp, text, err := schemetest.Read(t, c, "smb://192.0.2.1/share/f")
	if err != nil || text != string(f.file) || resp.Size != int64(len(f.file)) {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	req := schemetest.NewRequest(t, "smb://192.0.2.1/share/f")
	req.Range.First = 1_000_001
	if _, text, err := schemetest.ReadRequest(t, c, req); err != nil || text != string(f.file[1_000_001:]) {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
