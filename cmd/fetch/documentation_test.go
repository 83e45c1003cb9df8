package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestDocumentedFlags checks that the flags and commands in README.md and
// doc/*.md exist.
func TestDocumentedFlags(t *testing.T) {
	flags, commands := flagNames(), map[string]bool{}
	for _, c := range newCommandTree(&streams{}).main.Commands() {
		commands[c.Name()] = true
	}
	pages, err := filepath.Glob("../../doc/*.md")
	if err != nil || len(pages) < 8 {
		t.Fatal(pages, err)
	}
	flag := regexp.MustCompile("[` ]--([a-z][a-z0-9.-]*[a-z0-9])")
	example := regexp.MustCompile(`(?m)^    (?:\$ )?fetch ([a-z]+) `)
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range flag.FindAllStringSubmatch(string(text), -1) {
			if !flags[m[1]] {
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
