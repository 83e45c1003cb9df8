package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/schemes"
)

// TestDocumentedFlags checks that the flags and commands in README.md and
// doc/*.md exist.
func TestDocumentedFlags(t *testing.T) {
	flags, commands := flagNames(), map[string]bool{}
	tree := app.Commands(&console.Streams{})
	tree.RegisterAll()
	main, mirror := tree.Main, tree.Main
	for _, c := range tree.Main.Commands() {
		commands[c.Name()] = true
		if c.Name() == "mirror" {
			mirror = c
		}
	}
	otherFlags := []string{"rm", "formula", "user-data-dir", "password-store", "proxy-server"}
	known := func(name string) bool { // includes other names, such as --quiet
		return flags[name] || main.Flags().Lookup(name) != nil || mirror.Flags().Lookup(name) != nil
	}
	pages, err := filepath.Glob("../../doc/*.md")
	if err != nil || len(pages) < 8 {
		t.Fatal(pages, err)
	}
	flag := regexp.MustCompile("[` ]--([a-z][a-z0-9.-]*[a-z0-9])")
	otherProgram := regexp.MustCompile("`(wget|aria2c|lftp|lynx|sha256sum) [^`]*`")
	example := regexp.MustCompile(`(?m)^    (?:\$ )?fetch ([a-z]+) `)
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text = otherProgram.ReplaceAll(text, nil)
		for _, m := range flag.FindAllStringSubmatch(string(text), -1) {
			if !known(m[1]) && !slices.Contains(otherFlags, m[1]) {
				t.Errorf("%s: no flag --%s", page, m[1])
			}
		}
		for _, m := range example.FindAllStringSubmatch(string(text), -1) {
			if !commands[m[1]] {
				t.Errorf("%s: no command %s", page, m[1])
			}
		}
	}
}

// TestDocumentedRecords checks that doc/warc.md describes the records of each
// scheme.
func TestDocumentedRecords(t *testing.T) {
	text, err := os.ReadFile("../../doc/warc.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{"http": true, "https": true} // they have a section of their own
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) == 6 { // a row of the table of schemes
			for name := range strings.SplitSeq(cells[1], ",") {
				named[strings.TrimSpace(name)] = true
			}
		}
	}
	for _, s := range schemes.All(schemes.Options{}) {
		other := []string{"data", "mid", "cid", "mailto", "mailserver", "urn"} // the text after the table
		if !s.Traits.Session && !slices.Contains(other, s.Name) && !named[s.Name] {
			t.Errorf("doc/warc.md does not describe the records of %s", s.Name)
		}
	}
}
