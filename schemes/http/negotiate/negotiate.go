// Package negotiate authenticates to http servers and proxies with Kerberos
// (RFC 4559). The credentials come from the cache of kinit, from a keytab, or
// from a password.
package negotiate

import (
	"cmp"
	"context"
	"encoding/base64"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/spnego"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
)

// Options names the files of an Authenticator. An empty name means no file.
type Options struct {
	Config string // krb5.conf, with the addresses of the servers of each realm
	Cache  string // the cache of kinit, whose name may start with its type FILE
	Keytab string // keys of the user

	// OwnCache means that Cache is the default name. The file Config can then name
	// another one (default_ccache_name). The cache is ignored if it belongs to another
	// user, except root, because other users can create files in folders such as /tmp.
	// Otherwise, servers could receive tokens of these users.
	OwnCache bool
}

// An Authenticator makes the tokens for servers. It is safe for concurrent use.
type Authenticator struct {
	config *config.Config
	cache  *credentials.CCache // nil without a cache
	keytab *keytab.Keytab      // nil without a keytab

	unsupported string // the name of a cache of another type than FILE, or ""

	lock    chan struct{}     // guards tickets, also while the KDC is queried; has one element if it is locked
	tickets map[string]ticket // by user, realm, password and name of the service
}

// A ticket authenticates a user to a service.
type ticket struct {
	user    *client.Client // only its credentials are used
	ticket  messages.Ticket
	key     types.EncryptionKey
	expires time.Time
}

// A dialer connects to a server of the configuration.
type dialer = func(ctx context.Context, addr string) (net.Conn, error)

// New reads the files. A missing cache is no error, because the user may enter a
// password.
func New(o Options) (a *Authenticator, err error) {
	defer convertPanic(&err)
	a = &Authenticator{lock: make(chan struct{}, 1), tickets: map[string]ticket{}}
	configured := ""
	if a.config, configured, err = readConfig(o.Config); err != nil {
		return nil, err
	}
	open := regularfile.Open // each user of this machine can create a named pipe with the default name
	if o.OwnCache {
		open = regularfile.OpenOwn
		o.Cache = cmp.Or(configured, o.Cache)
	}
	name := cacheFile(o.Cache)
	if name == "" {
		a.unsupported = o.Cache
	}
	text, err := readFile(name, open)
	if err == nil && len(text) > 0 {
		if a.cache, err = parseCache(text); err != nil {
			return nil, fetch.Local.Errorf("%s: %w", name, err)
		}
	}
	if o.Keytab == "" {
		return a, nil
	}
	if text, err = readFile(o.Keytab, os.Open); err != nil {
		return nil, err
	}
	a.keytab = keytab.New()
	if a.keytab.Unmarshal(text) != nil { // the error can contain the keys
		return nil, fetch.Local.Errorf("%s: damaged, or no keytab", o.Keytab)
	}
	return a, nil
}

// convertPanic converts a panic to an error, because the parsers of gokrb5 do
// not check all lengths in files and messages.
func convertPanic(err *error) {
	if p := recover(); p != nil {
		*err = fetch.Protocol.Errorf("malformed Kerberos data: %v", p)
	}
}

// Servers returns the addresses of all servers in the configuration.
func (a *Authenticator) Servers() (all []string) {
	for _, r := range a.config.Realms {
		all = append(all, addresses(r.KDC)...)
	}
	return all
}

// addresses adds the port of Kerberos to the hosts that have none.
func addresses(hosts []string) (all []string) {
	for _, h := range hosts {
		if _, _, err := net.SplitHostPort(h); err != nil {
			h = net.JoinHostPort(strings.Trim(h, "[]"), "88")
		}
		all = append(all, h)
	}
	return all
}

// Token returns the token that authenticates to the service HTTP on a host. A
// token is valid for one request. The login may be nil or have no password; the
// cache and the keytab are then used. Its user name may contain a realm, as in
// alice@EXAMPLE.ORG. The error has the Fault Auth if there are no credentials,
// or if the KDC rejects them.
func (a *Authenticator) Token(
	ctx context.Context, dial func(ctx context.Context, addr string) (net.Conn, error), host string, login *fetch.Credential,
) (token string, err error) {
	defer convertPanic(&err)
	t, err := a.ticket(ctx, dial, strings.ToLower(strings.TrimSuffix(host, ".")), login)
	if err != nil {
		return "", err
	}
	first, err := spnego.NewNegTokenInitKRB5(t.user, t.ticket, t.key)
	if err != nil {
		return "", fetch.Auth.With(err)
	}
	message := spnego.SPNEGOToken{Init: true, NegTokenInit: first}
	b, err := message.Marshal()
	if err != nil {
		return "", fetch.Auth.With(err)
	}
	return base64.StdEncoding.EncodeToString(b), nil
}

// ticket returns a ticket for the service HTTP on a host.
func (a *Authenticator) ticket(ctx context.Context, dial dialer, host string, login *fetch.Credential) (ticket, error) {
	select {
	case a.lock <- struct{}{}:
		defer func() { <-a.lock }()
	case <-ctx.Done(): // another request waits for the KDC
		return ticket{}, context.Cause(ctx)
	}
	user, err := a.user(login)
	if err != nil {
		return ticket{}, err
	}
	realm := user.Credentials.Domain()
	if r := a.config.ResolveRealm(host); r != "" && r != realm {
		return ticket{}, fetch.Unsupported.Errorf("the host is in the realm %s, and the user in %s: trust between realms is not supported", r, realm)
	}
	service := types.NewPrincipalName(2, "HTTP/"+host) // KRB_NT_SRV_INST
	granting := types.NewPrincipalName(2, "krbtgt/"+realm)
	key := ticketKey(user, login)
	if t, ok := a.find(user, login, service, key); ok {
		return t, nil
	}
	k := kdc{config: a.config, realm: realm, dial: dial, ctx: ctx}
	first, ok := a.find(user, login, granting, key)
	if !ok {
		if first, err = k.authenticate(user); err != nil {
			return ticket{}, err
		}
		a.tickets[key+granting.PrincipalNameString()] = first
	}
	t, err := k.request(user, first, service)
	if err == nil && len(a.tickets) < 1000 {
		a.tickets[key+service.PrincipalNameString()] = t
	}
	return t, err
}

// ticketKey returns the start of the keys of the tickets of a user. A ticket that
// was issued for a password is not used with another password, because only the
// KDC can verify it.
func ticketKey(user *client.Client, login *fetch.Credential) string {
	key := user.Credentials.UserName() + "\x00" + user.Credentials.Domain() + "\x00"
	if usesPassword(login) {
		key += login.Password.Reveal() + "\x00"
	}
	return key
}

// find returns an earlier ticket, or one from the cache of kinit if the cache
// belongs to the user.
func (a *Authenticator) find(user *client.Client, login *fetch.Credential, service types.PrincipalName, key string) (ticket, bool) {
	soon := time.Now().Add(time.Minute)
	if t, ok := a.tickets[key+service.PrincipalNameString()]; ok && soon.Before(t.expires) {
		return t, true
	}
	if usesPassword(login) || !a.isCached(user.Credentials.UserName(), user.Credentials.Domain()) {
		return ticket{}, false
	}
	entry := a.cachedEntry(service)
	if entry == nil || !soon.Before(entry.EndTime) {
		return ticket{}, false
	}
	t := ticket{user: user, key: entry.Key, expires: entry.EndTime}
	return t, t.ticket.Unmarshal(entry.Ticket) == nil
}

// cachedEntry returns the ticket for a service in the cache of kinit, or nil. The
// cache can also contain tickets of other users.
func (a *Authenticator) cachedEntry(service types.PrincipalName) *credentials.Credential {
	owner := a.cache.DefaultPrincipal
	i := slices.IndexFunc(a.cache.Credentials, func(c *credentials.Credential) bool {
		return c.Client.Realm == owner.Realm && c.Client.PrincipalName.Equal(owner.PrincipalName) && c.Server.PrincipalName.Equal(service)
	})
	if i < 0 {
		return nil
	}
	return a.cache.Credentials[i]
}

// isCached reports whether the cache of kinit belongs to a user. An empty name
// means every user, and an empty realm every realm.
func (a *Authenticator) isCached(name, realm string) bool {
	return a.cache != nil && (name == "" || name == a.cache.GetClientPrincipalName().PrincipalNameString()) &&
		(realm == "" || realm == a.cache.GetClientRealm())
}

func usesPassword(login *fetch.Credential) bool { return login != nil && login.Password != "" }

// user returns the credentials of the user. The client of gokrb5 never connects.
func (a *Authenticator) user(login *fetch.Credential) (*client.Client, error) {
	name := ""
	if login != nil {
		name = login.User
	}
	name, realm, _ := strings.Cut(name, "@")
	switch {
	case !usesPassword(login) && a.isCached(name, realm):
		c := a.cache.GetClientCredentials()
		return client.NewWithPassword(c.UserName(), a.cache.GetClientRealm(), "", a.config), nil
	case name == "" && a.keytab != nil && len(a.keytab.Entries) > 0:
		p := a.keytab.Entries[0].Principal
		return client.NewWithKeytab(strings.Join(p.Components, "/"), p.Realm, a.keytab, a.config), nil
	case name == "" && a.unsupported != "":
		return nil, fetch.Auth.Errorf("no Kerberos credentials: the cache %s is not supported: KRB5CCNAME can name a file", a.unsupported)
	case name == "":
		return nil, fetch.Auth.Errorf("no Kerberos credentials: run kinit, or name a user")
	}
	if realm == "" {
		realm = a.config.LibDefaults.DefaultRealm
	}
	if a.keytab != nil && !usesPassword(login) {
		return client.NewWithKeytab(name, realm, a.keytab, a.config), nil
	}
	return client.NewWithPassword(name, realm, login.Password.Reveal(), a.config), nil
}
