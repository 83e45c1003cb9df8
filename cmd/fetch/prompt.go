package main

import (
	"context"
	"fmt"
	"os"

	"github.com/anyurl/fetch/cmd/fetch/internal/interactive"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
)

// passwordVariable is the environment variable with the password of the user.
const passwordVariable = "FETCH_PASSWORD"

// readPassword returns the value of the environment variable FETCH_PASSWORD. If
// the variable is not set, readPassword prompts the user.
func (s *streams) readPassword(ctx context.Context, user, prompt string) (fetch.Secret, error) {
	if p, ok := os.LookupEnv(passwordVariable); ok {
		return fetch.Secret(p), nil
	}
	if !terminal.Is(s.stdin) {
		return "", fetch.Auth.Errorf("no password for %s: use a terminal, FETCH_PASSWORD, or --netrc instead of -u", user)
	}
	return s.readSecret(ctx, prompt)
}

// canPrompt reports whether the user can be asked on a terminal.
func (s *streams) canPrompt() bool { return terminal.Is(s.stderr) && terminal.Is(s.stdin) }

// readPassphrase asks for the passphrase of the private key in a file.
func (s *streams) readPassphrase(ctx context.Context, file string) (fetch.Secret, error) {
	return s.readSecret(ctx, "Passphrase for "+file+": ")
}

// readSecret prompts for a password and reads it from the terminal without
// echo. If ctx is canceled, the echo is turned on again.
func (s *streams) readSecret(ctx context.Context, prompt string) (fetch.Secret, error) {
	in, ok := s.stdin.(*os.File)
	if !ok {
		return "", fetch.Local.Errorf("standard input is not a terminal")
	}
	b, err := interactive.ReadSecret(ctx, in, func() { fmt.Fprint(s.stderr, tty.Escape(prompt)) })
	fmt.Fprintln(s.stderr)
	if err != nil {
		return "", fetch.Local.With(err)
	}
	return fetch.Secret(b), nil
}
