package z3950

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/wire/ber"
	"github.com/anyurl/fetch/internal/wire/z3950/apdu"
)

// leaf is an element of a GRS-1 record, with the title tag.
func leaf(content []byte) []byte {
	return ber.SequenceOf(ber.Number(1, 2), ber.Group(2, ber.Number(2, 1)), ber.Group(4, content))
}

// TestGenericSize shows GRS-1 records whose text is much larger than the record,
// because each line of a value is indented.
func TestGenericSize(t *testing.T) {
	for _, c := range []struct {
		name         string
		depth, lines int
		ok           bool
	}{
		{"an indented value", 2, 1000, true},
		{"a large value", 0, 400_000, true},
		{"a large value that is indented", 0, maxTextSize / 5, false},
		{"many lines at a deep level", maxGenericDepth, maxTextSize / 80, false},
	} {
		text := ber.Primitive(ber.Universal, ber.GeneralString, []byte(strings.Repeat("\n", c.lines)+"x"))
		tree := ber.SequenceOf(leaf(text))
		for range c.depth {
			tree = ber.SequenceOf(leaf(ber.Group(6, tree)))
		}
		got, err := genericText(tree)
		if (err == nil) != c.ok || c.ok && bytes.Count(got, []byte("\n")) != c.depth+c.lines+1 || !c.ok && !errors.Is(err, ber.ErrMalformed) {
			t.Errorf("%s: got %d bytes, %v", c.name, len(got), err)
		}
		if len(got) > maxTextSize {
			t.Errorf("%s: the text has %d bytes", c.name, len(got))
		}
	}
}

// TestMARCSize shows MARC records whose fields are all the same bytes. Such a record
// is larger than its file.
func TestMARCSize(t *testing.T) {
	for fields, ok := range map[int]bool{10: true, 300: false} {
		directory := strings.Repeat("245999900000", fields)
		b := fmt.Sprintf("00000nam a22%05d a 4500%s\x1e", 24+len(directory)+1, directory)
		m, parsed := parseMARC([]byte(b + "  " + strings.Repeat("\x1fax", 4000)))
		text, shown := m.text()
		if !parsed || shown != ok || len(text) > 4*maxMARCData {
			t.Errorf("%d fields: got %d bytes, %v", fields, len(text), shown)
		}
	}
}

// TestTitleWords finds the title of a record whose title has a million words.
func TestTitleWords(t *testing.T) {
	r := apdu.Record{Syntax: apdu.GRS1, Data: ber.SequenceOf(leaf(ber.Primitive(ber.Universal, ber.GeneralString, []byte(strings.Repeat("a ", maxTextSize/2-100)))))}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := title(r)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; len(got) > maxTitle || !strings.HasPrefix(got, "a a a") || used > 6*maxTextSize {
		t.Errorf("got %q, %d MiB allocated", got, used>>20)
	}
}
