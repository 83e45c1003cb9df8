package smb

import (
	"encoding/binary"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/schemetest"
)

// FuzzReplies replaces bytes in one of the replies of a server. The request
// always ends in time, and an error has a class.
func FuzzReplies(f *testing.F) {
	f.Add(uint8(0), uint16(64), []byte{65, 0}, uint16(0), false, false)
	f.Add(uint8(1), uint16(8), []byte{0x6d, 0, 0, 0xc0}, uint16(0), false, false)
	f.Add(uint8(2), uint16(66), []byte{4}, uint16(0), true, false)
	f.Add(uint8(4), uint16(0), []byte("\xfdSMB"), uint16(0), true, false)
	f.Add(uint8(6), uint16(64), []byte{17, 0, 80, 0, 255, 255}, uint16(0), false, false)
	f.Add(uint8(6), uint16(72), []byte{8, 0, 0, 0}, uint16(0), false, true)
	f.Add(uint8(6), uint16(0), []byte{}, uint16(100), false, true)
	f.Fuzz(func(t *testing.T, number uint8, at uint16, patch []byte, length uint16, newest, list bool) {
		n := 0
		s := newFake(func(r *reply) {
			if n++; n-1 != int(number) {
				return
			}
			r.raw = r.bytes()[frameSize:]
			if int(at) <= len(r.raw) {
				copy(r.raw[at:], patch)
			}
			if length > 0 && int(length) < len(r.raw) {
				r.raw = r.raw[:length]
			}
		})
		if newest {
			s.version = version311
		}
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			c, end := s.client(t)
			defer end()
			url := "smb://192.0.2.1/share/f"
			if list {
				url = "smb://192.0.2.1/share/d/"
			}
			resp, err := c.Get(t.Context(), url)
			if err == nil {
				err = schemetest.Drain(resp, nil)
			}
			switch fault := fetch.FaultOf(err); {
			case err != nil && (fault == fetch.Internal || fault == fetch.Local || fault == fetch.Usage):
				t.Errorf("%v: %v", fault, err)
			case time.Since(start) > 10*time.Minute:
				t.Errorf("took %v", time.Since(start))
			}
		})
	})
}

// FuzzDirectory checks that the names of accepted entries do not overlap.
func FuzzDirectory(f *testing.F) {
	for _, entries := range [][]byte{entriesOf(dirEntry("a", 1, 0), dirEntry("b", 1, 0)), nil, make([]byte, 300)} {
		f.Add(append(append(make([]byte, headerSize), body(8, 0, uint16(9), 2, uint16(72), 4, uint32(len(entries)))...), entries...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < headerSize || checkDirectory(b) != nil {
			return
		}
		total := 0
		for at := int(binary.LittleEndian.Uint16(b[headerSize+2:])); ; {
			total += int(binary.LittleEndian.Uint32(b[at+60:]))
			next := int(binary.LittleEndian.Uint32(b[at:]))
			if next == 0 {
				break
			}
			at += next
		}
		if total > len(b) {
			t.Errorf("names of %d bytes in a message of %d bytes", total, len(b))
		}
	})
}

func FuzzLocate(f *testing.F) {
	f.Add("smb://h/share/a%20b")
	f.Add("smb://h/share/%2E%2E/a%5Cb")
	f.Fuzz(func(t *testing.T, text string) {
		u, err := fetch.ParseURL(text)
		if err != nil || u.Scheme() != "smb" {
			return
		}
		l, err := locate(u)
		if err != nil || l.share == "" {
			return
		}
		for _, name := range strings.Split(l.share+`\`+l.path, `\`) {
			if strings.ContainsAny(name, "/:*\x00") || name == ".." || strings.HasSuffix(name, ".") || name == "" && l.path != "" {
				t.Errorf("%q: %q", text, name)
			}
		}
	})
}

func TestPlan(t *testing.T) {
	schemetest.Plans(t, Schemes()[0], map[string]string{
		"smb://h/":               "TREE_CONNECT IPC$; IOCTL NetrShareEnum",
		"smb://h/m/a%20b/":       `TREE_CONNECT m; CREATE a b; QUERY_DIRECTORY`,
		"smb://h/m/":             "TREE_CONNECT m; CREATE; QUERY_DIRECTORY",
		"smb://h/m/a/b%E2%82%AC": `TREE_CONNECT m; CREATE a\b€; READ`,
	})
}

// TestNames checks which names are allowed.
func TestNames(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "a b": true, "日本": true, ".a": true, "a.b": true, "-": true, "#%&'~$": true, "CON": true, strings.Repeat("x", 255): true, " a": true,
		"": false, ".": false, "..": false, "a.": false, "a ": false, `a\b`: false, "a/b": false, "a:b": false, "a*": false, "a?": false, `a"`: false,
		"a<": false, "a>": false, "a|": false, "a\x00": false, "a\n": false, "\x7f": true, "\xff": false, strings.Repeat("x", 256): false, strings.Repeat("𝄞", 128): false,
	} {
		if reason := invalidName(name); (reason == "") != want {
			t.Errorf("%q: %q", name, reason)
		}
	}
	for url, want := range map[string]string{
		"smb://h": `"" ""`, "smb://h/": `"" ""`, "smb://h/s": `"s" ""`, "smb://h/s/": `"s" ""`, "smb://h/s/a/b/": `"s" "a\\b"`, "smb://h/s/a%2520": `"s" "a%20"`,
		"smb://h/s//a": "invalid-uri", "smb://h//s": "invalid-uri", "smb://h/s/a%2Fb": "invalid-uri", "smb://h/s/" + strings.Repeat("a/", 2000) + "a": "invalid-uri",
		"smb://h/IPC$/": "invalid-uri", "smb://h/s/%2E%2E/b": "invalid-uri",
	} {
		l, err := locate(schemetest.NewRequest(t, url).URL)
		got := strings.TrimSpace(strings.Join([]string{strconv.Quote(l.share), strconv.Quote(l.path)}, " "))
		if err != nil {
			got = fetch.FaultOf(err).String()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}
