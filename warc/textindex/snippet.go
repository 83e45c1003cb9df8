package textindex

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	snippetWords = 36 // words of a snippet
	leadingWords = 8  // words before the first match of a snippet
)

// snippet returns the part of a text that has the most different words of the
// phrases, with marks at these words. White space is collapsed.
func snippet(text string, phrases []phrase) []Span {
	wanted := map[string]int{}
	for _, p := range phrases {
		for _, w := range p {
			wanted[w] = len(wanted)
		}
	}
	from, to, matches := bestWindow(text, wanted)
	var spans []Span
	add := func(part string, match bool) {
		if part = collapse(part); part != "" {
			spans = append(spans, Span{part, match})
		}
	}
	if from > 0 {
		add("… ", false)
	}
	at := from
	for _, m := range matches {
		if m.start < from || m.end > to {
			continue
		}
		add(text[at:m.start], false)
		add(text[m.start:m.end], true)
		at = m.end
	}
	add(text[at:to], false)
	if to < len(text) {
		add(" …", false)
	}
	return spans
}

// bestWindow returns the range of the snippet in a text, and the matches in the
// text.
func bestWindow(text string, wanted map[string]int) (from, to int, matches []word) {
	type position struct{ number, match int } // of a match: number of the word, index in wanted
	var positions []position
	n := 0
	for w := range words(text) {
		if i, ok := wanted[w.text]; ok && len(matches) < maxMatches {
			matches, positions = append(matches, w), append(positions, position{n, i})
		}
		n++
	}
	first, best := 0, 0
	for i, p := range positions {
		found := map[int]bool{}
		for _, next := range positions[i:] {
			if next.number >= p.number+snippetWords-leadingWords {
				break
			}
			found[next.match] = true
		}
		if len(found) > best {
			first, best = max(p.number-leadingWords, 0), len(found)
		}
		if best == len(wanted) {
			break
		}
	}
	from, to, n = 0, 0, 0
	for w := range words(text) {
		if n == first && first > 0 {
			from = w.start
		}
		if n == first+snippetWords {
			break
		}
		to, n = w.end, n+1
	}
	if n < first+snippetWords {
		to = len(text)
	}
	return from, clip(text, from, to), matches
}

const (
	maxMatches = 1000 // matches of a text that are compared
	maxSnippet = 600  // bytes of a snippet
)

// clip returns the end of a snippet of at most maxSnippet bytes.
func clip(text string, from, to int) int {
	if to-from <= maxSnippet {
		return to
	}
	to = from + maxSnippet
	for to > from && !utf8.RuneStart(text[to]) {
		to--
	}
	return to
}

// collapse replaces each sequence of white space by one space.
func collapse(text string) string {
	all := strings.Join(strings.Fields(text), " ")
	if all == "" {
		return strings.Repeat(" ", min(len(text), 1))
	}
	if first, _ := utf8.DecodeRuneInString(text); unicode.IsSpace(first) {
		all = " " + all
	}
	if last, _ := utf8.DecodeLastRuneInString(text); unicode.IsSpace(last) {
		all += " "
	}
	return all
}
