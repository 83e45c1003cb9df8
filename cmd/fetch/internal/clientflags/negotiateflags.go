package clientflags

import (
	"cmp"
	"context"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http/negotiate"
)

// openNegotiator reads the files of Kerberos if a flag requires them. The names
// of the files are in the environment variables of MIT Kerberos.
func (f *Flags) openNegotiator() (*negotiate.Authenticator, error) {
	if !f.HTTP.negotiate && !f.proxy.negotiate {
		return nil, nil
	}
	if f.HTTP.negotiate && f.Login.User == "" {
		return nil, fetch.Usage.Errorf("--negotiate requires -u : for the ticket of kinit, or -u USER@REALM")
	}
	a, err := negotiate.New(negotiate.Options{
		Config: kerberosFile("KRB5_CONFIG", "/etc/krb5.conf"),
		Cache:  cmp.Or(os.Getenv("KRB5CCNAME"), "/tmp/krb5cc_"+strconv.Itoa(os.Getuid())),
		Keytab: kerberosFile("KRB5_CLIENT_KTNAME", ""),

		OwnCache: os.Getenv("KRB5CCNAME") == "",
	})
	if err == nil && f.proxy.negotiate {
		f.proxy.negotiator = a
	}
	return a, err
}

// kerberosFile returns the name of a file from an environment variable, whose
// value may start with the type FILE.
func kerberosFile(variable, name string) string {
	if value := os.Getenv(variable); value != "" {
		name = strings.TrimPrefix(value, "FILE:")
	}
	return name
}

// negotiateWith returns the function for Proxy.Negotiate of the proxy p.
func negotiateWith(a *negotiate.Authenticator, p fetch.Proxy) func(context.Context, func(context.Context, string) (net.Conn, error)) (string, error) {
	return func(ctx context.Context, dial func(context.Context, string) (net.Conn, error)) (string, error) {
		login, err := fetch.CredentialOf(p.URL)
		if err != nil {
			return "", err
		}
		return a.Token(ctx, dial, p.URL.Host(), login)
	}
}
