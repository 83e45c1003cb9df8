package chart

import (
	"encoding/xml"
	"html/template"
	"io"
	"strings"
	"testing"
)

// TestCharts compares charts with the exact SVG.
func TestCharts(t *testing.T) {
	const bar = `<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect width="`
	for name, c := range map[string]struct {
		got  template.HTML
		want string
	}{
		"bar":                {Bar(3, 8), bar + `37.5" height="1"/></svg>`},
		"bar of the maximum": {Bar(8, 8), bar + `100" height="1"/></svg>`},
		"third":              {Bar(1, 3), bar + `33.33" height="1"/></svg>`},
		"bar of nothing":     {Bar(0, 0), bar + `0" height="1"/></svg>`},
		"negative value":     {Bar(-5, 10), bar + `0" height="1"/></svg>`},
		"beyond the limit":   {Bar(50, 10), bar + `100" height="1"/></svg>`},
		"columns": {Columns(`"new" & failed`, [][]int64{{3, 1}, {0, 2}, {}}),
			`<svg class="columns" role="img" aria-label="&#34;new&#34; &amp; failed" viewBox="0 0 24 40" preserveAspectRatio="none">` +
				`<rect class="s1" x="0.1" y="10" width="0.8" height="30"/><rect class="s2" x="0.1" y="0" width="0.8" height="10"/>` +
				`<rect class="s2" x="1.1" y="20" width="0.8" height="20"/></svg>`},
		"no columns": {Columns("none", nil),
			`<svg class="columns" role="img" aria-label="none" viewBox="0 0 24 40" preserveAspectRatio="none"></svg>`},
		"negative column": {Columns("x", [][]int64{{-1, 4}}),
			`<svg class="columns" role="img" aria-label="x" viewBox="0 0 24 40" preserveAspectRatio="none">` +
				`<rect class="s2" x="0.1" y="0" width="0.8" height="40"/></svg>`},
		"huge column": {Columns("x", [][]int64{{1 << 62, 1 << 62}}),
			`<svg class="columns" role="img" aria-label="x" viewBox="0 0 24 40" preserveAspectRatio="none">` +
				`<rect class="s1" x="0.1" y="0" width="0.8" height="40"/></svg>`},
		"area": {Area("bytes", []int64{0, 5, 10}),
			`<svg class="area" role="img" aria-label="bytes" viewBox="0 0 2 40" preserveAspectRatio="none">` +
				`<path d="M0 40L0 40L1 20L2 0L2 40Z"/></svg>`},
		"area of one value": {Area("x", []int64{7}),
			`<svg class="area" role="img" aria-label="x" viewBox="0 0 1 40" preserveAspectRatio="none"><path d="M0 40L0 0L1 0L1 40Z"/></svg>`},
		"area of nothing": {Area("x", nil),
			`<svg class="area" role="img" aria-label="x" viewBox="0 0 1 40" preserveAspectRatio="none"><path d="M0 40L0 40Z"/></svg>`},
	} {
		if string(c.got) != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, c.got, c.want)
		}
	}
}

// FuzzCharts checks that charts are valid XML without text, for any values.
func FuzzCharts(f *testing.F) {
	f.Add("label", int64(1), int64(2), int64(3))
	f.Add(`"><script>`, int64(-1), int64(1<<62), int64(1<<62))
	f.Fuzz(func(t *testing.T, label string, a, b, c int64) {
		for _, text := range []template.HTML{Bar(a, b), Columns(label, [][]int64{{a, b}, {c}}), Area(label, []int64{a, b, c})} {
			if strings.Contains(string(text), `h="-`) || strings.Contains(string(text), `t="-`) || strings.Contains(string(text), `y="-`) {
				t.Fatalf("negative number in %s", text)
			}
			in := xml.NewDecoder(strings.NewReader(string(text)))
			for {
				token, err := in.Token()
				if err == io.EOF {
					break
				}
				if _, isText := token.(xml.CharData); err != nil && !strings.ContainsFunc(label, isInvalid) || isText {
					t.Fatalf("%s: %v", text, err)
				}
				if err != nil {
					break
				}
			}
		}
	})
}

// isInvalid reports whether XML does not permit a character.
func isInvalid(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\ufffd' || r == '\ufffe' || r == '\uffff'
}
