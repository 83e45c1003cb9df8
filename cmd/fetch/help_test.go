package main

import (
	"regexp"
	"testing"

	"github.com/anyurl/fetch/schemes"
	"github.com/spf13/pflag"
)

// TestSchemeHelp: fetch help knows every scheme, and names no flag that is not
// there.
func TestSchemeHelp(t *testing.T) {
	for _, s := range schemes.All(schemes.Options{}) {
		name := s.Name
		if same, ok := sameHelp[name]; ok {
			name = same
		}
		if schemeHelp[name] == "" {
			t.Errorf("scheme %s has no help", s.Name)
		}
	}
	flags := map[string]bool{}
	root := new(app).command()
	for _, c := range append(root.Commands(), root) {
		c.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
		c.PersistentFlags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
	}
	for scheme, text := range schemeHelp {
		for _, m := range regexp.MustCompile(`--([a-z][a-z0-9.-]*[a-z0-9])`).FindAllStringSubmatch(text, -1) {
			if !flags[m[1]] {
				t.Errorf("help of %s: no flag --%s", scheme, m[1])
			}
		}
	}
}
