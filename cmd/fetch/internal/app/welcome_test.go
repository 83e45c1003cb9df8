package app

import (
	"strings"
	"testing"
)

// TestWelcome checks the text for a command line without arguments: it fits on a
// terminal, names only existing commands and topics, and has the exit code of
// wrong usage.
func TestWelcome(t *testing.T) {
	var out, stderr strings.Builder
	if code := Run(nil, strings.NewReader(""), &out, &stderr); code != 2 || out.String() != "" {
		t.Errorf("exit code %d, output %q", code, &out)
	}
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	if len(lines) > 12 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if len(line) > 80 {
			t.Errorf("line of %d characters: %s", len(line), line)
		}
		words := strings.Fields(line)
		if !strings.HasPrefix(line, "  fetch ") {
			continue
		}
		if name := words[1]; !strings.ContainsAny(name, ":-") {
			var help, messages strings.Builder
			if code := Run([]string{name, "--help"}, strings.NewReader(""), &help, &messages); code != 0 || !strings.Contains(help.String(), "fetch "+name) {
				t.Errorf("there is no command %s: %s", name, &messages)
			}
		}
	}
	var page, messages strings.Builder
	if code := Run([]string{"help", "getting-started"}, strings.NewReader(""), &page, &messages); code != 0 {
		t.Errorf("fetch help getting-started: %s", &messages)
	}
}
