package sftp

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/sshagent"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// An authenticator authenticates the user of one connection.
type authenticator struct {
	ctx    context.Context
	driver *driver
	login  *login
	trace  *trace.Trace
	limit  *timeLimit      // of the handshake, without the time in which the user enters a password
	agent  *sshagent.Agent // nil if not used
	rounds int             // number of keyboard-interactive rounds
	err    error           // error of a key file or of a prompt

	noPassword bool // the server requested a password, and there is none
}

// maxRounds is the maximum number of rounds of keyboard-interactive
// authentication.
const maxRounds = 10

// methods returns the methods of authentication in the order in which they are
// tried.
func (a *authenticator) methods() (all []ssh.AuthMethod) {
	if a.login.mayUseKeys {
		all = append(all, ssh.PublicKeysCallback(a.keys))
	}
	return append(all, ssh.PasswordCallback(a.password), ssh.KeyboardInteractive(a.interact))
}

// close closes the connection to the agent.
func (a *authenticator) close() {
	if a.agent != nil {
		a.agent.Close()
	}
}

// keys returns the private keys of the user.
func (a *authenticator) keys() (all []ssh.Signer, err error) {
	if name := a.driver.options.Key; name != "" {
		key, err := a.readKey(name)
		if err != nil {
			a.err = err
			return nil, err
		}
		return []ssh.Signer{key}, nil
	}
	if a.agent = sshagent.Open(); a.agent != nil {
		if all, err = a.agent.Signers(); err != nil {
			a.trace.Notef("the SSH agent has an error: %v", err)
		}
	}
	for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
		key, err := a.readKey(filepath.Join(folder(), name))
		switch {
		case err == nil:
			all = append(all, key)
		case !errors.Is(err, os.ErrNotExist):
			a.trace.Detailf("%v", err)
		}
	}
	return all, nil
}

// password returns the password of the credential. If the credential has no
// password, it requests a credential from Env.Login.
func (a *authenticator) password() (string, error) {
	if a.login.Password == "" {
		defer a.limit.pause()()
		c := fetch.Challenge{Origin: a.login.origin, User: a.login.User, Realm: "ssh"}
		found, err := sessions.AskFor(a.ctx, a.driver.env.Login, c)
		if err != nil {
			a.err = err
			return "", err
		}
		if found != nil {
			a.login.Password = found.Password
		}
	}
	if a.login.Password == "" {
		a.noPassword = true
		return "", sessions.NoPassword(a.login.User)
	}
	return a.login.Password.Reveal(), nil
}

// interact answers the questions of keyboard-interactive authentication. It
// accepts only a single question whose answer is not displayed, and answers it
// with the password.
func (a *authenticator) interact(_, _ string, questions []string, echos []bool) ([]string, error) {
	if a.rounds++; a.rounds > maxRounds {
		return nil, fetch.Auth.Errorf("more than %d questions", maxRounds)
	}
	if len(questions) == 0 {
		return nil, nil
	}
	if len(questions) > 1 || echos[0] {
		return nil, fetch.Auth.Errorf("server asks questions other than the password")
	}
	password, err := a.password()
	return []string{password}, err
}
