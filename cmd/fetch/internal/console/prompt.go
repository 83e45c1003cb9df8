package console

import (
	"context"
	"fmt"
	"os"

	"github.com/anyurl/fetch/cmd/fetch/internal/interactive"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
)

// PasswordVariable is the environment variable with the password of the user.
const PasswordVariable = "FETCH_PASSWORD"

// ReadPassword returns the value of the environment variable FETCH_PASSWORD. If
// the variable is not set, ReadPassword prompts the user.
func (s *Streams) ReadPassword(ctx context.Context, user, prompt string) (fetch.Secret, error) {
	if p, ok := os.LookupEnv(PasswordVariable); ok {
		return fetch.Secret(p), nil
	}
	if !terminal.Is(s.Stdin) {
		return "", fetch.Auth.Errorf("no password for %s: use a terminal, FETCH_PASSWORD, or --netrc instead of -u", user)
	}
	return s.ReadSecret(ctx, prompt)
}

// CanPrompt reports whether the user can be prompted on a terminal.
func (s *Streams) CanPrompt() bool { return terminal.Is(s.Stderr) && terminal.Is(s.Stdin) }

// ReadPassphrase prompts for the passphrase of the private key in a file.
func (s *Streams) ReadPassphrase(ctx context.Context, file string) (fetch.Secret, error) {
	return s.ReadSecret(ctx, "Passphrase for "+file+": ")
}

// ReadSecret prompts for a password and reads it from the terminal without
// echo. If ctx is canceled, the echo is turned on again.
func (s *Streams) ReadSecret(ctx context.Context, prompt string) (fetch.Secret, error) {
	in, ok := s.Stdin.(*os.File)
	if !ok {
		return "", fetch.Local.Errorf("standard input is not a terminal")
	}
	b, err := interactive.ReadSecret(ctx, in, func() { fmt.Fprint(s.Stderr, tty.Escape(prompt)) })
	fmt.Fprintln(s.Stderr)
	if err != nil {
		return "", fetch.Local.With(err)
	}
	return fetch.Secret(b), nil
}
