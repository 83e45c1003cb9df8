package main

import (
	"regexp"
	"testing"

	"github.com/anyurl/fetch/schemes"
	"github.com/spf13/pflag"
)

// flagNames returns the names of the flags of all commands, and their letters.
func flagNames() map[string]bool {
	flags := map[string]bool{}
	add := func(f *pflag.Flag) { flags[f.Name], flags[f.Shorthand] = true, true }
	root := newRoot(&streams{})
	for _, c := range append(root.Commands(), root) {
		c.Flags().VisitAll(add)
	}
	delete(flags, "")
	return flags
}

// TestSchemeHelp checks that every scheme has a help text, and that the texts
// name no unknown flag.
func TestSchemeHelp(t *testing.T) {
	flags := flagNames()
	for _, s := range schemes.All(schemes.Options{}) {
		if s.Help == "" {
			t.Errorf("scheme %s has no help", s.Name)
		}
		for _, m := range regexp.MustCompile(`--([a-z][a-z0-9.-]*[a-z0-9])`).FindAllStringSubmatch(s.Help, -1) {
			if !flags[m[1]] {
				t.Errorf("help of %s: no flag --%s", s.Name, m[1])
			}
		}
	}
}
