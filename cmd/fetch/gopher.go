package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/tty"
	"github.com/anyurl/fetch/schemes/gopher"
	"github.com/spf13/pflag"
)

// gopherFlags are for gopher and gophers alone.
type gopherFlags struct {
	view, lang string
	ask        []string
}

func (f *gopherFlags) register(p *pflag.FlagSet) {
	p.StringVar(&f.view, "view", "", "bring the Gopher+ view of a media `TYPE`")
	p.StringVar(&f.lang, "lang", "", "bring the Gopher+ view in `LANGUAGE`")
	p.StringArrayVar(&f.ask, "ask", nil, "answer `NAME=VALUE` in a Gopher+ form, NAME its prompt or number")
}

func (a *app) gopherOptions() (gopher.Options, error) {
	f := &a.flags.gopher
	answers := map[string]string{}
	for _, text := range f.ask {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return gopher.Options{}, fetch.Usage.Errorf("--ask wants NAME=VALUE, not %q", text)
		}
		answers[name] = value
	}
	var prompt func(gopher.Field) (string, error)
	if terminal(a.stdin) && terminal(a.stderr) {
		prompt = a.askField
	}
	return gopher.Options{
		View: f.view, Lang: f.lang, Strict: a.flags.strict,
		FillForm: func(_ context.Context, form gopher.Form) ([]string, error) { return form.Fill(answers, prompt) },
	}, nil
}

// askField has the person at the terminal answer one field of a form.
func (a *app) askField(f gopher.Field) (string, error) {
	text := tty.Escape(f.Prompt)
	if len(f.Choices) > 0 {
		text += " (" + tty.Escape(strings.Join(f.Choices, ", ")) + ")"
	}
	if f.Default != "" {
		text += " [" + tty.Escape(f.Default) + "]"
	}
	if f.Kind == gopher.Password {
		secret, err := a.readSecret(f.Prompt + ": ") // the password of a login is not for whoever sends a form
		return secret.Reveal(), err
	}
	fmt.Fprintf(a.stderr, "%s: ", text)
	line, err := bufio.NewReader(a.stdin).ReadString('\n')
	if err != nil {
		return "", fetch.Local.With(err)
	}
	if line = strings.TrimRight(line, "\r\n"); line == "" {
		line = f.Default
	}
	return line, nil
}
