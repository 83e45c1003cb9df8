package negotiate

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// number returns a number in a cache of kinit.
func number(n uint32) string { return string(binary.BigEndian.AppendUint32(nil, n)) }

// cachedName returns the name of a user or of a service in a cache of kinit.
func cachedName(realm string, parts ...string) string {
	text := number(1) + number(uint32(len(parts))) + number(uint32(len(realm))) + realm
	for _, part := range parts {
		text += number(uint32(len(part))) + part
	}
	return text
}

// TestDamagedCache checks that a damaged cache of kinit is an error, and that the
// numbers in it allocate no memory.
func TestDamagedCache(t *testing.T) {
	alice, service := cachedName("R", "alice"), cachedName("R", "HTTP", "host.test")
	key := "\x00\x11" + number(16) + strings.Repeat("k", 16)
	start := "\x05\x04\x00\x0c\x00\x01\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00" + alice
	entry := alice + service + key + number(1) + number(1) + number(0x7fffffff) + number(0) + "\x00" + number(0)
	good := start + entry + number(1) + "\x00\x02" + number(4) + "\x7f\x00\x00\x01" + number(0) + number(3) + "abc" + number(0)
	for name, text := range map[string]string{
		"addresses":          start + entry + number(1<<26),
		"authorization data": start + entry + number(0) + number(1<<26),
		"all memory":         start + entry + number(1<<31-1),
		"negative number":    start + entry + number(1<<32-1),
		"parts of a name":    start[:16] + number(1) + number(1<<31-1) + number(0),
		"length of a ticket": start + entry + number(0) + number(0) + number(1<<31-1),
		"length of a header": "\x05\x04\xff\xff" + alice,
		"first version":      "\x05\x01" + strings.Repeat("\x00", 8),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := parseCache([]byte(text))
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 || err == nil && name != "first version" {
			t.Errorf("%s: %d bytes allocated, %v", name, used, err)
		}
	}
	for n := range len(good) {
		text := append(make([]byte, 0, 512), good[:n]...) // readFile has such buffers
		if c, err := parseCache(text); err == nil && n != len(start) {
			t.Errorf("%d of %d bytes: %d tickets", n, len(good), len(c.Credentials))
		}
	}
	for version, text := range map[string]string{
		"4": good, "3": "\x05\x03" + strings.Replace(good[16:], key, "\x00\x11"+key, 1),
	} {
		c, err := parseCache([]byte(text))
		if err != nil || len(c.Credentials) != 1 || c.GetClientPrincipalName().PrincipalNameString() != "alice" || c.GetClientRealm() != "R" {
			t.Errorf("version %s: %v, %+v", version, err, c)
			continue
		}
		e := c.Credentials[0]
		if e.Server.PrincipalName.PrincipalNameString() != "HTTP/host.test" || e.Key.KeyType != 17 || string(e.Key.KeyValue) != strings.Repeat("k", 16) ||
			e.EndTime.Unix() != 0x7fffffff || string(e.Ticket) != "abc" {
			t.Errorf("version %s: got %+v", version, e)
		}
	}
	config := filepath.Join(t.TempDir(), "krb5.conf")
	if err := os.WriteFile(config, []byte("[libdefaults]\n default_realm = R\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(t.TempDir(), "cache")
	if err := os.WriteFile(cache, []byte(start+entry+number(1<<26)), 0o600); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := New(Options{Config: config, Cache: cache})
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; err == nil || used > 8<<20 {
		t.Errorf("file: %d bytes allocated, %v", used, err)
	}
}
