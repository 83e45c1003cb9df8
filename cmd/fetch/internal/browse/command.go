package browse

import (
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// A command is a line that the user has typed.
type command struct {
	name string // such as "back"; "open" for a number
	text string // text after the name, such as a URL
	item int    // number of an entry, or 0
}

// commandNames maps the names that the user can type to the full names of the
// commands.
func commandNames() map[string]string {
	return map[string]string{
		"b": "back", "back": "back", "f": "forward", "forward": "forward", "u": "up", "up": "up",
		"r": "reload", "reload": "reload", "l": "list", "list": "list", "i": "info", "info": "info",
		"g": "go", "go": "go", "s": "save", "save": "save", "h": "help", "?": "help", "help": "help",
		"q": "quit", "quit": "quit", "exit": "quit",
	}
}

// parseCommand parses a typed line.
func parseCommand(line string) (command, error) {
	line = strings.TrimSpace(line)
	if line == "" {
		return command{name: "more"}, nil
	}
	if words, ok := strings.CutPrefix(line, "/"); ok {
		return command{name: "search", text: strings.TrimSpace(words)}, nil
	}
	if n, ok := number(line); ok {
		return command{name: "open", item: n}, nil
	}
	word, text, _ := strings.Cut(line, " ")
	text = strings.TrimSpace(text)
	name := commandNames()[strings.ToLower(word)]
	switch {
	case name == "go" && text == "":
		return command{}, fetch.Usage.Errorf("go requires a URL or a number")
	case name == "go":
		n, _ := number(text)
		return command{name: name, text: text, item: n}, nil
	case name == "save":
		return command{name: name, text: text}, nil
	case name != "" && text == "":
		return command{name: name}, nil
	case strings.Contains(line, "://") && text == "":
		return command{name: "go", text: line}, nil
	}
	return command{}, fetch.Usage.Errorf("unknown command %q; h prints the commands", line)
}

// number parses the number of an entry.
func number(text string) (int, bool) {
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n), err == nil
}

const help = `
  N         open entry N
  Return    print more of the page
  b, f      go back, go forward
  u         go up to the listing above
  /WORDS    search for WORDS at this page
  g URL     go to URL
  g N       go to entry N as if you typed its URL
  s [FILE]  save the object of this page
  r         request the page again
  l         print the page again
  i         print the URL, type and size of the page
  h, ?      print this text
  q         quit; so does the end of the input

Control-C stops a transfer. A number opens an entry under the rules for links,
so that a page cannot lead to private addresses. g has no such rule.
`
