package linesort

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestSorter sorts the same lines in memory and with temporary files.
func TestSorter(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var all []string
	for range 5000 {
		all = append(all, strings.Repeat(string(rune('a'+random.IntN(26))), 1+random.IntN(30)))
	}
	want := slices.Compact(slices.Sorted(slices.Values(all)))
	t.Setenv("TMPDIR", t.TempDir())
	for _, limit := range []int{0, 1, 300, 20_000} {
		s := Sorter{limit: limit}
		for _, line := range all[:min(len(all), max(limit, 200))] {
			if err := s.Add([]byte(line)); err != nil {
				t.Fatal(err)
			}
		}
		want := want
		if limit == 1 || limit == 300 || limit == 0 {
			want = slices.Compact(slices.Sorted(slices.Values(all[:max(limit, 200)])))
		}
		var got []string
		for line, err := range s.Sorted() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, strings.TrimSuffix(string(line), "\n"))
		}
		if !slices.Equal(got, want) {
			t.Errorf("limit %d: got %d lines, want %d", limit, len(got), len(want))
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

func TestMerge(t *testing.T) {
	var b bytes.Buffer
	err := Merge(&b, strings.NewReader("a\nc\ne"), strings.NewReader(""), strings.NewReader("a\nb\nc\nf\n"))
	if b.String() != "a\nb\nc\ne\nf\n" || err != nil {
		t.Errorf("got %q, %v", b.String(), err)
	}
	if err := Merge(&b, strings.NewReader(strings.Repeat("x", MaxLine+1))); err == nil {
		t.Error("a line without end was read")
	}
}

// TestMemory adds lines for about 1,000 temporary files. The limit for the lines
// in memory must not rise with the number of files.
func TestMemory(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const limit = 2000
	s := Sorter{limit: limit}
	defer s.Close()
	for i := range 100_000 {
		if err := s.Add(fmt.Appendf(nil, "%012d", i)); err != nil {
			t.Fatal(err)
		}
		if n := len(s.text) + 8*len(s.starts); n > limit+21 {
			t.Fatalf("%d bytes in memory after %d lines", n, i)
		}
		if len(s.files) > 2*mergeMemory/bufferSize {
			t.Fatalf("%d files after %d lines", len(s.files), i)
		}
	}
}

// TestLongLines sorts lines of almost 1 MiB, as a small compressed WARC file can
// have them. The lines of all temporary files must not be in memory at the same
// time.
func TestLongLines(t *testing.T) {
	if testing.Short() {
		t.Skip("writes files of 240 MiB")
	}
	t.Setenv("TMPDIR", t.TempDir())
	const count = 120
	s := Sorter{limit: 1} // a file for each line
	line := bytes.Repeat([]byte("x"), MaxLine-10)
	for i := range count {
		copy(line, fmt.Sprintf("%03d", (i*7)%count))
		if err := s.Add(line); err != nil {
			t.Fatal(err)
		}
	}
	var before, during runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n := 0
	for line, err := range s.Sorted() {
		if err != nil || len(line) != MaxLine-9 || string(line[:3]) != fmt.Sprintf("%03d", n) {
			t.Fatalf("line %d: %.3s, %v", n, line, err)
		}
		if n++; n == 1 {
			runtime.GC()
			runtime.ReadMemStats(&during)
		}
	}
	if used := int64(during.HeapAlloc) - int64(before.HeapAlloc); n != count || used > 64<<20 {
		t.Errorf("%d lines, %d MiB in memory", n, used>>20)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}
