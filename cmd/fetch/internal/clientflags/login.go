package clientflags

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/netrc"
	"github.com/anyurl/fetch/uri"
)

// LoginFlags are the flags that select the credentials for servers.
type LoginFlags struct {
	User          string
	netrc         bool
	netrcOptional bool
	netrcFile     string
}

func (f *LoginFlags) register(s *options.Set) {
	p := s.Section("Authentication")
	p.StringVarP(&f.User, "user", "u", "", "log in as `USER:PASSWORD` (prompts for a missing password)")
	p.BoolVarP(&f.netrc, "netrc", "n", false, "read user names and passwords from ~/.netrc")
	p.BoolVar(&f.netrcOptional, "netrc-optional", false, "like --netrc, but prefer the password of the URL")
	p.StringVar(&f.netrcFile, "netrc-file", "", "like --netrc, but read `FILE`")
}

// Logins looks up credentials in the flags and in the netrc file. If necessary,
// it prompts the user on a terminal.
type Logins struct {
	*console.Streams
	netrc    *netrc.File // contents of the netrc file, or nil
	optional bool        // if true, the password of a URL overrides netrc
	Silent   bool        // if true, never prompt, and do not use FETCH_PASSWORD

	mu      sync.Mutex        // serializes prompts, and guards the fields below
	user    *fetch.Credential // from --user, or nil
	answers map[loginKey]*fetch.Credential
}

// A loginKey identifies a login that the user entered, so that parallel requests
// prompt for it once.
type loginKey struct {
	origin fetch.Origin
	user   string
}

// Open reads the netrc file. If --user contains no password, the password comes
// from FETCH_PASSWORD. Otherwise, requests that need it prompt the user.
func (f *LoginFlags) Open(s *console.Streams) (*Logins, error) {
	l := &Logins{Streams: s, optional: f.netrcOptional}
	if f.User != "" {
		name, password, has := strings.Cut(f.User, ":")
		l.user = &fetch.Credential{User: name, Password: fetch.Secret(password)}
		if has && password != "" && terminal.Is(s.Stderr) {
			s.Note("warning: other users of this machine can see the password on the command line")
		}
		if !has {
			l.user.Password = fetch.Secret(os.Getenv(console.PasswordVariable))
			_, has = os.LookupEnv(console.PasswordVariable)
			l.user.Incomplete = !has
		}
	}
	if !f.netrc && !f.netrcOptional && f.netrcFile == "" {
		return l, nil
	}
	file, warning, err := netrc.Open(f.netrcFile)
	if err != nil {
		return nil, err
	}
	if warning != "" {
		s.Note("%s", warning)
	}
	l.netrc = file
	return l, nil
}

// Credential returns the credentials from --user or the netrc file for a URL
// that the user entered. It returns nil if there are no such credentials.
func (l *Logins) Credential(req *fetch.Request) *fetch.Credential { return l.credential(req, true) }

// credential is like Credential. It uses the default entry of the netrc file only
// if entered is true, which means that the user entered the host.
func (l *Logins) credential(req *fetch.Request, entered bool) *fetch.Credential {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.user != nil {
		c := *l.user
		return &c
	}
	_, _, hasPassword := req.URL.User()
	if l.netrc == nil || l.optional && hasPassword {
		return nil
	}
	if !entered {
		origin, _ := OriginOf(req.URL)
		name, _, _ := req.URL.User()
		found, _ := l.netrc.Login(context.Background(), fetch.Challenge{Origin: origin, User: name}) // the error is always nil
		return found
	}
	return l.netrc.Credential(req.URL)
}

// middleware returns a driver that prompts for the missing password of --user
// before it calls next. For schemes that use the private keys of the user, it
// does not: their drivers request a password if the server accepts no key.
func (l *Logins) middleware(next fetch.Driver) fetch.Driver {
	return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		if a := req.Auth; a != nil && a.Incomplete && req.Typed() && !req.Scheme().Traits.UserKeys {
			password, err := l.userPassword(ctx, a.User)
			if err != nil {
				return nil, err
			}
			if password != nil {
				complete := *a
				complete.Password, complete.Incomplete = *password, false
				req = req.Clone()
				req.Auth = &complete
			}
		}
		return next.Do(ctx, req)
	})
}

// userPassword returns the password of --user, for which it prompts the user
// once. It returns nil if the flag names another user.
func (l *Logins) userPassword(ctx context.Context, name string) (*fetch.Secret, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.user == nil || l.user.User != name {
		return nil, nil
	}
	if l.user.Incomplete {
		password, err := l.ReadPassword(ctx, name, "Password for "+name+": ")
		if err != nil {
			return nil, err
		}
		l.user.Password, l.user.Incomplete = password, false
	}
	return &l.user.Password, nil
}

// PromptFor prompts for the missing password of --user, if the requests for one
// of the URLs need it.
func (l *Logins) PromptFor(ctx context.Context, client *fetch.Client, urls []uri.URI) error {
	if l.user == nil || !slices.ContainsFunc(urls, func(u uri.URI) bool { return !client.Scheme(u.Scheme()).Traits.UserKeys }) {
		return nil
	}
	_, err := l.userPassword(ctx, l.user.User)
	return err
}

// Complete adds the credentials from --user or the netrc file to req. If the
// URL has a user name, they must have the same name. A password in the URL is
// not replaced, and complete then returns false. The URL may specify a
// mechanism but no user name, as imap://;AUTH=PLAIN@HOST/ does.
func (l *Logins) Complete(req *fetch.Request) bool { return l.complete(req, true) }

// CompleteLink is like Complete for a URL whose host the user did not enter. The
// default entry of the netrc file does not apply to it.
func (l *Logins) CompleteLink(req *fetch.Request) bool { return l.complete(req, false) }

func (l *Logins) complete(req *fetch.Request, entered bool) bool {
	given := req.Auth
	if given != nil && (given.Password != "" || given.Token != "" || given.User == "" && given.Mechanism == "") {
		return false
	}
	login := l.credential(req, entered)
	if p, ok := os.LookupEnv(console.PasswordVariable); login == nil && ok && !l.Silent && given != nil && given.Incomplete {
		login = &fetch.Credential{User: given.User, Password: fetch.Secret(p)}
	}
	if login == nil || given != nil && given.User != "" && given.User != login.User {
		return given == nil || given.User == ""
	}
	if given != nil {
		login.Mechanism = given.Mechanism
	}
	req.Auth = login
	return true
}

// RedirectLogin returns a function that looks up credentials for redirect
// targets in the netrc file. It returns nil if --user overrides the netrc file.
func (l *Logins) redirectLogin() func(fetch.Origin) *fetch.Credential {
	if l.netrc == nil || l.user != nil {
		return nil
	}
	return l.netrc.RedirectLogin
}

// answer returns credentials for a server that requires authentication. They
// come from the netrc file, from FETCH_PASSWORD or from the terminal.
func (l *Logins) answer(ctx context.Context, c fetch.Challenge) (*fetch.Credential, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.netrc != nil {
		if found, err := l.netrc.Login(ctx, c); found != nil || err != nil {
			return found, err
		}
	}
	key := loginKey{c.Origin, c.User}
	// The name comes from the URL that the user entered, also after a redirect
	// to the same server.
	if known := l.answers[key]; known != nil && !c.Rejected && (c.Typed || c.User != "") {
		return known, nil
	}
	if l.Silent || !c.Typed {
		return nil, nil
	}
	found, err := l.ask(ctx, c)
	if found != nil {
		if l.answers == nil {
			l.answers = map[loginKey]*fetch.Credential{}
		}
		l.answers[key] = found
	}
	return found, err
}

// ask returns a login from the terminal. Without a terminal, FETCH_PASSWORD is
// the password of a known user.
func (l *Logins) ask(ctx context.Context, c fetch.Challenge) (*fetch.Credential, error) {
	if l.CanPrompt() {
		return l.prompt(ctx, c)
	}
	if p, ok := os.LookupEnv(console.PasswordVariable); ok && c.User != "" && !c.Rejected {
		return &fetch.Credential{User: c.User, Password: fetch.Secret(p)}, nil
	}
	return nil, nil
}

// maxRealm is the number of characters of a realm that a prompt shows.
const maxRealm = 100

// prompt reads a user name and a password from the terminal.
func (l *Logins) prompt(ctx context.Context, c fetch.Challenge) (*fetch.Credential, error) {
	fmt.Fprintf(l.Stderr, "%s port %d requires a login (%s)\n", tty.Escape(c.Origin.Host), c.Origin.Port,
		tty.Escape(tty.Clip(c.Realm, maxRealm)))
	user := c.User
	if user == "" {
		fmt.Fprint(l.Stderr, "User: ")
		if _, err := fmt.Fscanln(l.Stdin, &user); err != nil {
			return nil, nil
		}
	}
	password, err := l.ReadPassword(ctx, user, "Password: ")
	if err != nil {
		return nil, err
	}
	return &fetch.Credential{User: user, Password: password}, nil
}
