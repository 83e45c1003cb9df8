package main

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/helpcmd"
	"github.com/anyurl/fetch/cmd/fetch/internal/manual"
	"github.com/anyurl/fetch/cmd/fetch/internal/mirrorcmd"
	"github.com/anyurl/fetch/cmd/fetch/internal/objectcmd"
	"github.com/anyurl/fetch/doc"
	"github.com/anyurl/fetch/schemes"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagNames returns the names of the flags of all commands, and their letters.
func flagNames() map[string]bool {
	flags := map[string]bool{}
	add := func(f *pflag.Flag) { flags[f.Name], flags[f.Shorthand] = true, true }
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		c.Flags().VisitAll(add)
		for _, c := range c.Commands() {
			visit(c)
		}
	}
	tree := app.Commands(&console.Streams{})
	tree.RegisterAll()
	visit(tree.Main)
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

// TestHelpWidth checks that the help of each command fits 80 columns, and that
// the description of each flag fits on one line of 100 columns.
func TestHelpWidth(t *testing.T) {
	if testing.Short() {
		t.Skip("formats the help of all commands")
	}
	tree := app.Commands(&console.Streams{Stdout: io.Discard})
	tree.RegisterAll()
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		for line := range strings.Lines(tree.HelpText(c)) {
			if line = strings.TrimRight(line, "\n"); len(line) > 80 {
				t.Errorf("%s: line of %d columns: %s", c.CommandPath(), len(line), line)
			}
		}
		flag := "" // line of the previous flag
		for line := range strings.Lines(manual.Usage(c, tree.Set(c), true, 100)) {
			line = strings.TrimRight(line, "\n")
			continued := strings.HasPrefix(line, "          ") && !strings.Contains(line, " --")
			if continued && len(flag) > 45 && c.Name() != "serve" {
				t.Errorf("%s: the description needs two lines: %s", c.CommandPath(), flag)
			}
			if flag = ""; strings.HasPrefix(line, "  ") && strings.Contains(line, " --") {
				flag = line
			}
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(tree.Main)
	for _, name := range console.SchemeNames() {
		var out, stderr bytes.Buffer
		if code := app.Run([]string{"help", name}, strings.NewReader(""), &out, &stderr); code != 0 {
			t.Fatalf("help %s: exit code %d: %s", name, code, &stderr)
		}
		for line := range strings.Lines(out.String()) {
			if len(line) > 81 {
				t.Errorf("help %s: line of %d columns: %s", name, len(line)-1, line)
			}
		}
	}
}

// TestExitCodes checks that the help and the manual page of each command contain
// every word about its exit codes, and that the pages of the documentation have
// a row for each code.
func TestExitCodes(t *testing.T) {
	tree := app.Commands(&console.Streams{})
	tree.RegisterAll()
	pages := &manual.Pages{Set: tree.Set}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		for _, name := range []string{manual.ExitStatus, manual.Environment, manual.Files} {
			page := plainText(pages.Page(c))
			help := page
			if name == manual.ExitStatus {
				help = plainText(manual.Usage(c, tree.Set(c), true, 100))
			}
			for line := range strings.Lines(c.Annotations[name]) {
				if line = plainText(line); !strings.Contains(help, line) || !strings.Contains(page, line) {
					t.Errorf("%s: the help or the manual page lacks %q", c.CommandPath(), line)
				}
			}
		}
		for _, c := range c.Commands() {
			visit(c)
		}
	}
	visit(tree.Main)
	for page, codes := range map[string]string{"mirroring.md": mirrorcmd.MirrorExitStatus, "scripting.md": objectcmd.ExitStatus} {
		text, err := os.ReadFile("../../doc/" + page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^([0-9]+)`).FindAllString(codes, -1) {
			if !regexp.MustCompile(`(?m)^\| (?:[0-9]+, )*` + m + `\b`).Match(text) {
				t.Errorf("doc/%s has no row for code %s", page, m)
			}
		}
	}
}

// plainText returns the words and numbers of text without its format.
func plainText(text string) string {
	text = strings.NewReplacer(`\fB`, "", `\fR`, "", `\-`, "-", `\&`, "", ".TP\n", "").Replace(text)
	words := regexp.MustCompile(`[A-Za-z0-9]+`).FindAllString(text, -1)
	return strings.ToLower(strings.Join(words, " "))
}

// TestHelpTopics checks that "fetch help" prints each page of the documentation,
// lists the names of the pages, and suggests a name for a misspelled one.
func TestHelpTopics(t *testing.T) {
	help := func(wantCode int, args ...string) string {
		t.Helper()
		var out, stderr bytes.Buffer
		if code := app.Run(append([]string{"help"}, args...), strings.NewReader(""), &out, &stderr); code != wantCode {
			t.Fatalf("help %q: exit code %d, want %d: %s", args, code, wantCode, &stderr)
		}
		return out.String() + stderr.String()
	}
	pages, err := doc.Pages()
	if err != nil || len(pages) < 8 {
		t.Fatal(len(pages), err)
	}
	index, commands := help(0), app.Commands(&console.Streams{})
	for _, page := range pages {
		if !strings.Contains(index, "\n  "+page.Name+" ") {
			t.Errorf("fetch help does not list %s", page.Name)
		}
		if text := help(0, page.Name); !strings.HasPrefix(text, strings.ReplaceAll(page.Title, "`", "")) && !strings.HasPrefix(text, page.Title+"\n") || strings.Contains(text, ".md)") {
			t.Errorf("help %s: %.60q", page.Name, text)
		}
		if cmd, _, err := commands.Main.Find([]string{page.Name}); err == nil && cmd.HasParent() {
			t.Errorf("%s is the name of a page and of a command", page.Name)
		}
		if _, ok := helpcmd.SchemeHelp(page.Name); ok {
			t.Errorf("%s is the name of a page and of a scheme", page.Name)
		}
	}
	if text := help(0, "Mirroring.md"); !strings.HasPrefix(text, "Mirroring and archives\n==") {
		t.Errorf("help Mirroring.md: %.60q", text)
	}
	for _, c := range []struct{ typed, want string }{
		{"mirorring", "did you mean mirroring?"},
		{"mirrr", "did you mean mirror?"},
		{"gophr", "did you mean gopher or gophers?"},
		{"polcy", "did you mean policy?"},
		{"unlike-all", "fetch help lists them"},
		{"mirror unlike-all", "did you mean mirror"},
	} {
		if text := help(2, strings.Fields(c.typed)...); !strings.Contains(text, c.want) {
			t.Errorf("help %s: %q, want %q", c.typed, text, c.want)
		}
	}
}

// TestHelpWords checks that "fetch help" finds pages, commands, flags and schemes
// by words in their texts.
func TestHelpWords(t *testing.T) {
	for _, c := range []struct {
		oddity, words, want string
	}{
		{"words of a page", "resume download", "\n  fetch help downloading\n      Resume: "},
		{"name of a flag", "segments", "\n  fetch --help\n      --segments N: "},
		{"flag of a command", "dry-run", "\n  fetch help mirror\n      --dry-run: "},
		{"word in upper case", "METALINK", "\n  fetch help verify-downloads\n"},
		{"word of a scheme", "wais_proxy", "\n  fetch help wais\n"},
		{"start of a word", "resum", "\n  fetch help downloading\n"},
		{"command with another word", "mirror xyzzy", ""},
		{"control characters", "resume \x1b", ""},
	} {
		var out, stderr bytes.Buffer
		code := app.Run(append([]string{"help"}, strings.Fields(c.words)...), strings.NewReader(""), &out, &stderr)
		if c.want == "" {
			if code != 2 || strings.ContainsAny(stderr.String(), "\x1b") {
				t.Errorf("%s: exit code %d: %q", c.oddity, code, &stderr)
			}
			continue
		}
		if code != 0 || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: exit code %d, got\n%s", c.oddity, code, &out)
		}
		for line := range strings.Lines(out.String()) {
			if len([]rune(line)) > 81 {
				t.Errorf("%s: long line: %s", c.oddity, line)
			}
		}
	}
}

// TestTimes checks that every flag for a time accepts seconds with and without a
// unit, and rejects other values.
func TestTimes(t *testing.T) {
	tree := app.Commands(&console.Streams{})
	tree.RegisterAll()
	found := 0
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			_, usage := pflag.UnquoteUsage(f)
			if kind := f.Value.Type(); kind != "seconds" && kind != "interval" {
				if strings.Contains(usage, "SECONDS") || kind == "duration" {
					t.Errorf("%s --%s has the type %s", c.CommandPath(), f.Name, kind)
				}
				return
			}
			found++
			for _, text := range []string{"5", "5s", "5.0", "0h0m5s"} {
				if err := f.Value.Set(text); err != nil || strings.TrimSuffix(f.Value.String(), "s") != "5" {
					t.Errorf("%s --%s %s: %v, %v", c.CommandPath(), f.Name, text, f.Value, err)
				}
			}
			for _, text := range []string{"", "-1", "-1s", "5x", "NaN", "Inf", "1e300", "s", "300000000000h"} {
				if err := f.Value.Set(text); err == nil {
					t.Errorf("%s --%s accepts %q", c.CommandPath(), f.Name, text)
				}
			}
		})
		for _, c := range c.Commands() {
			visit(c)
		}
	}
	visit(tree.Main)
	if found < 20 {
		t.Errorf("%d flags", found)
	}
}
