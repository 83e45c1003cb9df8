package tree

import (
	"fmt"
	"os"
	"testing"
	"time"
)

func TestIsLinux58(t *testing.T) {
	for release, want := range map[string]bool{
		"5.7.19": false, "5.8.0": true, "5.8-rc1": true, "5.10.0-8-amd64": true, "6.1": true, "10.0": true, "4.19.0": false, "6": true, "": false, "x": false,
		"5.99999999999999999999": true,
	} {
		if got := isLinux58(release); got != want {
			t.Errorf("%q: %v", release, got)
		}
	}
}

func TestDirtyBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"MemTotal: 5 kB\nDirty:       12 kB\nWriteback: 7 kB\n": 12 << 10,
		"MemTotal: 5 kB\nDirty: x kB\n":                         1 << 62,
		"MemTotal: 5 kB\nDirty:":                                1 << 62,
		"":                                                      1 << 62,
	} {
		if got := dirtyBytes([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestSyncMany syncs enough files for syncAll, also if syncAll is not possible.
func TestSyncMany(t *testing.T) {
	for _, syncsAll := range []bool{false, true} {
		s, err := Open(t.TempDir(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.syncsAll = syncsAll
		var files []*File
		for range minSyncAll {
			f, err := s.Create("x")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write([]byte("content")); err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		if err := s.Sync(files...); err != nil {
			t.Fatal(err)
		}
		for i, f := range files {
			if !f.synced {
				t.Errorf("file %d is not synced", i)
			}
			if err := f.Publish(fmt.Sprint("f", i), time.Time{}); err != nil {
				t.Error(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	closed, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	if syncAll(closed) || canSyncAll(closed) {
		t.Error("a closed directory was synced")
	}
}
