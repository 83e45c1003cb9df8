package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/tty"
	"github.com/anyurl/fetch/netrc"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// loginFlags say who asks.
type loginFlags struct {
	user          string
	netrc         bool
	netrcOptional bool
	netrcFile     string
}

func (f *loginFlags) register(p *pflag.FlagSet) {
	p.StringVarP(&f.user, "user", "u", "", "log in as `USER:PASSWORD`; without a password it is asked for")
	p.BoolVarP(&f.netrc, "netrc", "n", false, "find the login in ~/.netrc; after a redirect to another host, by a machine entry alone")
	p.BoolVar(&f.netrcOptional, "netrc-optional", false, "find it there unless the URL has one")
	p.StringVar(&f.netrcFile, "netrc-file", "", "find it in `FILE`")
}

// logins knows the credentials of one run.
type logins struct {
	*app
	mu    sync.Mutex // one question at a time
	netrc *netrc.File
	user  *fetch.Credential
}

func (a *app) logins() (*logins, error) {
	f := &a.flags.login
	l := &logins{app: a}
	if f.user != "" {
		name, password, has := strings.Cut(f.user, ":")
		l.user = &fetch.Credential{User: name, Password: fetch.Secret(password)}
		if has && password != "" && terminal(a.stderr) {
			a.note("a password on the command line is seen by every user of this machine")
		}
		if !has {
			p, err := a.askPassword("Password for " + name + ": ")
			if err != nil {
				return nil, err
			}
			l.user.Password = p
		}
	}
	if f.netrc || f.netrcOptional || f.netrcFile != "" {
		if err := l.openNetrc(); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *logins) openNetrc() error {
	file, warning, err := netrc.Open(l.flags.login.netrcFile)
	if err != nil {
		return err
	}
	if warning != "" {
		l.note("%s", warning)
	}
	l.netrc = file
	return nil
}

// credential is what goes with the first request for a URL that a person
// typed: -u, or what netrc has for the host.
func (l *logins) credential(req *fetch.Request) *fetch.Credential {
	if l.user != nil {
		c := *l.user
		return &c
	}
	_, _, hasPassword := req.URL.User()
	if l.netrc == nil || l.flags.login.netrcOptional && hasPassword {
		return nil
	}
	return l.netrc.Credential(req.URL)
}

// redirectLogin looks up netrc for the hosts that redirects lead to. It is nil
// in a mirror, and where -u takes the place of netrc.
func (a *app) redirectLogin() func(fetch.Origin) *fetch.Credential {
	l := a.who
	if l.netrc == nil || l.user != nil || a.archiving {
		return nil
	}
	return l.netrc.RedirectLogin
}

// answer is the LoginFunc: the server wants somebody, and the request named
// nobody.
func (l *logins) answer(ctx context.Context, c fetch.Challenge) (*fetch.Credential, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.netrc != nil {
		if found, err := l.netrc.Login(ctx, c); found != nil || err != nil {
			return found, err
		}
	}
	if !c.Typed || !terminal(l.stderr) || !terminal(l.stdin) {
		return nil, nil
	}
	return l.ask(c)
}

// ask asks the person at the terminal, telling who wants to know.
func (l *logins) ask(c fetch.Challenge) (*fetch.Credential, error) {
	fmt.Fprintf(l.stderr, "%s at port %d asks for a login (%s)\n", tty.Escape(c.Origin.Host), c.Origin.Port, tty.Escape(c.Realm))
	user := c.User
	if user == "" {
		fmt.Fprint(l.stderr, "User: ")
		if _, err := fmt.Fscanln(l.stdin, &user); err != nil {
			return nil, nil
		}
	}
	password, err := l.askPassword("Password: ")
	if err != nil {
		return nil, err
	}
	return &fetch.Credential{User: user, Password: password}, nil
}

// askPassword reads a password without showing it, or from FETCH_PASSWORD
// where nobody can be asked.
func (a *app) askPassword(prompt string) (fetch.Secret, error) {
	if p, ok := os.LookupEnv("FETCH_PASSWORD"); ok {
		return fetch.Secret(p), nil
	}
	if !terminal(a.stdin) {
		return "", fetch.Auth.Errorf("no password: give USER:PASSWORD, FETCH_PASSWORD or a netrc")
	}
	return a.readSecret(prompt)
}

// readSecret reads what the person at the terminal types, without showing it.
// A signal ends the process while it waits, and the terminal shows again what
// is typed.
func (a *app) readSecret(prompt string) (fetch.Secret, error) {
	in, ok := a.stdin.(*os.File)
	if !ok {
		return "", fetch.Local.Errorf("no terminal")
	}
	fd := int(in.Fd())
	was, err := term.GetState(fd)
	if err != nil {
		return "", fetch.Local.With(err)
	}
	defer context.AfterFunc(a.ctx, func() { term.Restore(fd, was) })()
	fmt.Fprint(a.stderr, tty.Escape(prompt))
	b, err := term.ReadPassword(fd)
	fmt.Fprintln(a.stderr)
	if err != nil {
		return "", fetch.Local.With(err)
	}
	return fetch.Secret(b), nil
}
