package helpcmd

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/manual"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/doc"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/spf13/cobra"
)

// maxMatches limits the texts that a search for words lists.
const maxMatches = 10

// A match is a text that contains all words of a search.
type match struct {
	command string // command line that prints the text
	title   string // heading or name of the text
	line    string // first line with one of the words
	score   int
}

// find returns the texts that contain all words, the best one first: sections of
// pages, commands, flags and schemes. Each command line occurs once.
func (c *helpCommand) find(words []string, pages []doc.Page) []match {
	s := search{best: map[string]match{}}
	for _, w := range words {
		s.words = append(s.words, strings.ToLower(w))
	}
	for _, page := range pages {
		for _, section := range page.Sections() {
			s.add("fetch help "+page.Name, page.Name, section.Title, section.Text)
		}
	}
	seen := map[string]bool{} // several schemes may have the same text
	for _, name := range console.SchemeNames() {
		text, _ := SchemeHelp(name)
		if !seen[text] {
			s.add("fetch help "+name, name, name+" URLs", text)
		}
		seen[text] = true
	}
	c.addCommands(&s, c.Main)
	all := slices.SortedFunc(func(yield func(match) bool) {
		for _, m := range s.best {
			if !yield(m) {
				return
			}
		}
	}, func(a, b match) int { return cmp.Or(b.score-a.score, strings.Compare(a.command, b.command)) })
	return all[:min(len(all), maxMatches)]
}

// addCommands adds the descriptions of cmd, of its flags and of its subcommands.
func (c *helpCommand) addCommands(s *search, cmd *cobra.Command) {
	line := "fetch help " + strings.TrimPrefix(cmd.CommandPath(), "fetch ")
	if cmd == c.Main {
		line = "fetch --help"
	} else {
		s.add(line, cmd.Name(), cmd.Short, cmd.Long)
	}
	for _, section := range manual.Sections(c.Set(cmd)) {
		if section.Own != (cmd != c.Main) && section.Title != "Help" {
			continue
		}
		for _, f := range section.Flags {
			value, usage := options.Describe(f)
			s.add(line, f.Name, strings.TrimSpace("--"+f.Name+" "+value), usage)
		}
	}
	for _, sub := range cmd.Commands() {
		c.addCommands(s, sub)
	}
}

// A search collects the best match for each command line.
type search struct {
	words []string // in lower case
	best  map[string]match
}

// add adds a text if it contains all words. A word in the name or in the title
// counts more than a word in the text.
func (s *search) add(command, name, title, text string) {
	m := match{command: command, title: title}
	for _, w := range s.words {
		score := 20*count(name, w) + 10*count(title, w) + min(count(text, w), 5)
		if score == 0 {
			return
		}
		m.score += score
	}
	if strings.HasPrefix(name, "library") || strings.HasPrefix(name, "writing-") {
		m.score /= 4 // pages for programmers
	}
	if m.line = s.bestLine(text); m.line == "" {
		m.line, _, _ = strings.Cut(text, "\n")
	}
	if m.score > s.best[command].score {
		s.best[command] = m
	}
}

// bestLine returns the line of text with most of the words, without marks of
// Markdown. It returns "" if no line has one.
func (s *search) bestLine(text string) (best string) {
	most := 0
	for line := range strings.Lines(text) {
		n := 0
		for _, w := range s.words {
			n += min(count(line, w), 1)
		}
		if n > most {
			most, best = n, line
		}
	}
	return strings.Join(strings.Fields(strings.NewReplacer("|", " ", "`", "", "**", "").Replace(best)), " ")
}

// count returns the number of words in text that start with word.
func count(text, word string) (n int) {
	text = strings.ToLower(text)
	for {
		i := strings.Index(text, word)
		if i < 0 || word == "" {
			return n
		}
		if before := text[:i]; before == "" || !unicode.IsLetter(rune(before[len(before)-1])) {
			n++
		}
		text = text[i+len(word):]
	}
}

// matchText formats the matches for a terminal of the given width.
func matchText(words []string, matches []match, columns int) string {
	var b strings.Builder
	b.WriteString("These texts describe " + tty.Escape(strings.Join(words, " ")) + ":\n")
	for _, m := range matches {
		b.WriteString("\n  " + m.command + "\n")
		text := m.title
		if m.line != "" && m.line != m.title {
			text += ": " + m.line
		}
		b.WriteString("      " + tty.Cut(text, columns-len("      ")) + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
