package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// textWords is the number of words of a page whose text is searched.
const textWords = 800

// textCases returns the case for the search in texts.
func textCases() []Case {
	return []Case{{Name: "text index of 100,000 pages", Measure: measureTexts}}
}

// measureTexts measures fetch index --text and the search in texts of fetch
// serve. The words of the pages have the frequencies of a natural language.
func measureTexts(b *block, opts options) []row {
	archive := filepath.Join(scratchDir(b, false), "archive")
	pages := newTextPages()
	err := writeServed(archive, servedRecords, pages.page)
	if err == nil {
		err = indexServed(archive)
	}
	if err != nil {
		b.Fatalf("bench: %v", err)
	}
	first, used := indexTexts(b, opts.program, archive)
	again, _ := indexTexts(b, opts.program, archive)
	info, err := os.Stat(archive + ".textindex")
	if err != nil {
		b.Fatalf("bench: %v", err)
	}
	rows := []row{
		{name: "text index of 100,000 pages", kind: wall, fetch: first},
		{name: "text index of 100,000 pages", kind: memory, fetch: used, target: &Target{Measure: memory, Limit: 256 << 20}},
		{name: "text index, size of the file", kind: memory, fetch: float64(info.Size())},
		{name: "text index without a new page", kind: wall, fetch: again},
	}
	s := startServe(b, opts.program, archive)
	for _, search := range []struct{ name, words string }{
		{"rare words", pages.words[20_000]}, {"two words", pages.words[300] + " " + pages.words[700]},
		{"frequent word", pages.words[0]}, {"phrase of frequent words", `"` + pages.words[0] + " " + pages.words[1] + `"`},
	} {
		rows = append(rows, row{name: "text search, " + search.name, kind: wall, fetch: s.search(b, search.words),
			target: &Target{Measure: wall, Limit: 0.050}})
	}
	s.stop(b)
	return rows
}

// indexTexts runs fetch index --text and returns its time and its peak memory.
func indexTexts(b *block, program, archive string) (took, used float64) {
	ctx, cancel := context.WithTimeout(b.ctx, runTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--no-config", "index", "--text", archive)
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("bench: index --text: %v: %s", err, out)
	}
	return time.Since(began).Seconds(), peak(cmd.ProcessState.SysUsage())
}

// search returns the median time of a search. The first searches warm up the
// server.
func (s *serving) search(b *block, words string) float64 {
	c, err := dialClient(s.addr)
	if err != nil {
		b.Fatalf("bench: %v", err)
	}
	defer c.Close()
	var all []float64
	for i := range 15 {
		began := time.Now()
		body, _, err := c.get(s.base + "?" + url.Values{"text": {words}}.Encode())
		if err != nil || !bytes.Contains(body, []byte(`<ol class="hits">`)) {
			b.Fatalf("bench: search for %s: %v, %q", words, err, body)
		}
		if i >= 5 {
			all = append(all, time.Since(began).Seconds())
		}
	}
	return middle(all)
}

// textPages makes pages with words of a vocabulary.
type textPages struct {
	words []string // the most frequent first
	next  *rand.Zipf
}

func newTextPages() *textPages {
	random := rand.New(rand.NewPCG(1, 2))
	p := &textPages{next: rand.NewZipf(random, 1.1, 2.7, 99_999)}
	syllables := []string{"ba", "ke", "lo", "mi", "nu", "ra", "se", "ti", "vo", "za", "ch", "st", "el", "on", "ar", "is"}
	seen := map[string]bool{}
	for len(p.words) < 100_000 {
		var w strings.Builder
		for range 2 + len(p.words)/20_000 {
			w.WriteString(syllables[random.IntN(len(syllables))])
		}
		if w.WriteString(syllables[random.IntN(len(syllables))]); !seen[w.String()] {
			seen[w.String()] = true
			p.words = append(p.words, w.String())
		} else if len(p.words) < 20_000 {
			p.words = append(p.words, fmt.Sprint(w.String(), len(p.words)))
		}
	}
	return p
}

func (p *textPages) page(n int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!DOCTYPE html><html><head><title>Page %d about %s</title></head><body><h1>Page %d</h1>\n<p>", n, p.words[p.next.Uint64()], n)
	for i := range textWords {
		b.WriteString(p.words[p.next.Uint64()])
		if i%60 == 59 {
			fmt.Fprintf(&b, ".</p>\n<p class=\"text\"><a href=\"%05d.html\">next</a> ", (n+i)%servedRecords)
		}
		b.WriteByte(' ')
	}
	b.WriteString("</body></html>\n")
	return b.Bytes()
}
