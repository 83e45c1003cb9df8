package linesort

import (
	"bytes"
	"math/rand/v2"
	"os"
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

func TestMemory(t *testing.T) {
	for _, test := range []struct {
		files, limit, want int
	}{{0, 0, smallMemory}, {maxSmallFiles - 1, 0, smallMemory}, {maxSmallFiles, 0, largeMemory}, {maxSmallFiles, 100, 100}} {
		s := Sorter{files: make([]*os.File, test.files), limit: test.limit}
		if got := s.memory(); got != test.want {
			t.Errorf("%d files, limit %d: %d bytes, want %d", test.files, test.limit, got, test.want)
		}
	}
}
