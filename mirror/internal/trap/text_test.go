package trap

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestTextDigest checks which pages have the same text.
func TestTextDigest(t *testing.T) {
	t.Parallel()
	digest := func(page string) uint64 {
		d := NewTextDigest("a.example")
		if _, err := io.Copy(d, iotest.OneByteReader(strings.NewReader(page))); err != nil {
			t.Fatal(err)
		}
		sum, _ := d.Sum()
		return sum
	}
	for _, c := range []struct {
		name, a, b string
		same       bool
	}{
		{"number in a query", `<a href="/?t=1">x`, `<a href="/?t=25">x`, true},
		{"token", `<a href="/?t=5f2c09aa">x`, `<a href="/?t=9">x`, true},
		{"path of another length", `<a href="/1">x`, `<a href="/1/2/3">x`, true},
		{"date", `<a href=2026-11-22>x`, `<a href=2026-1-2>x`, true},
		{"hidden input", `<input name=csrf value="a1"><p>`, `<input name=csrf value="zz9"><p>`, true},
		{"number in the text", `<a href="/?t=1">topic 1`, `<a href="/?t=2">topic 2`, false},
		{"word in a link", `<a href="/?t=red">x`, `<a href="/?t=blue">x`, false},
		{"number of links", `<a href="/?t=1">x`, `<a href="/?t=1"><a href="/?t=2">x`, false},
		{"image", `<img src="/1.jpg"><a href=2>next`, `<img src="/2.jpg"><a href=3>next`, false},
		{"image in upper case", `<IMG SRC=1.jpg>`, `<IMG SRC=2.jpg>`, false},
		{"frame", `<iframe src="/1"></iframe>`, `<iframe src="/2"></iframe>`, false},
	} {
		if got := digest(c.a) == digest(c.b); got != c.same {
			t.Errorf("%s: the same text: %t, want %t", c.name, got, c.same)
		}
	}
}

// TestLooksRandom checks which URLs count as random.
func TestLooksRandom(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"http://a.example/?token=5f2c09aa":      true,
		"http://a.example/x/abc1defg/":          true,
		"http://a.example/?t=1234567":           false, // the number of a topic
		"http://a.example/introduction/a-title": false,
		"http://host12345678.example/":          false,
	} {
		if got := LooksRandom(text); got != want {
			t.Errorf("%s: %t, want %t", text, got, want)
		}
	}
}
