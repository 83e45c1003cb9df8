package objectflags

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/schemes/gopher"
)

// gopherFlags are the flags for gopher and gophers URLs.
type gopherFlags struct {
	view, lang string
	answers    []string
}

func (f *gopherFlags) Register(s *options.Set) {
	p := s.Section("Gopher")
	p.StringVar(&f.view, "view", "", "request the Gopher+ view with the media `TYPE`")
	p.StringVar(&f.lang, "lang", "", "request the Gopher+ view in `LANGUAGE`")
	p.StringArrayVar(&f.answers, "ask", nil, "`NAME=VALUE`: fill in a field of a Gopher+ form")
}

// options converts the flags to options of the gopher package. If a Gopher+
// form has a field without a value, the user is prompted for the value on a
// terminal.
func (f *gopherFlags) options(s *console.Streams, strict bool) (gopher.Options, error) {
	answers := map[string]string{}
	for _, text := range f.answers {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return gopher.Options{}, fetch.Usage.Errorf("--ask requires NAME=VALUE, not %q", text)
		}
		answers[name] = value
	}
	interactive := terminal.Is(s.Stdin) && terminal.Is(s.Stderr)
	fill := func(ctx context.Context, form gopher.Form) ([]string, error) {
		if !interactive {
			return form.Fill(answers, nil)
		}
		return form.Fill(answers, func(f gopher.Field) (string, error) { return promptField(s, ctx, f) })
	}
	return gopher.Options{View: f.view, Lang: f.lang, Strict: strict, FillForm: fill}, nil
}

// promptField prompts the user for one field of a form.
func promptField(s *console.Streams, ctx context.Context, f gopher.Field) (string, error) {
	text := tty.Escape(f.Prompt)
	if len(f.Choices) > 0 {
		text += " (" + tty.Escape(strings.Join(f.Choices, ", ")) + ")"
	}
	if f.Default != "" {
		text += " [" + tty.Escape(f.Default) + "]"
	}
	if f.Kind == gopher.Password {
		// The environment variable FETCH_PASSWORD contains a login password,
		// which must not be sent in a form.
		secret, err := s.ReadSecret(ctx, f.Prompt+": ")
		return secret.Reveal(), err
	}
	fmt.Fprintf(s.Stderr, "%s: ", text)
	line, err := bufio.NewReader(s.Stdin).ReadString('\n')
	if err != nil {
		return "", fetch.Local.With(err)
	}
	if line = strings.TrimRight(line, "\r\n"); line == "" {
		line = f.Default
	}
	return line, nil
}
