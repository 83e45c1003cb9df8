package console

import (
	"strings"

	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/http/doh"
	"github.com/anyurl/fetch/schemes/http/ipfs"
	"github.com/anyurl/fetch/schemes/mail"
	"github.com/anyurl/fetch/schemes/nfs"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/schemes/pop"
	"github.com/anyurl/fetch/schemes/sftp"
)

const (
	loginFlag      = "-u USER, which asks for the password or reads FETCH_PASSWORD, or --netrc"
	proxyLoginFlag = "-U USER, which asks for the password"
)

// OverrideFlags maps each setting of the library to the flags that change the
// setting. VALUE is a placeholder for the new value, such as a port.
var OverrideFlags = map[override.Kind]string{
	override.Addresses:  "--allow-address VALUE",
	override.Ports:      "--allow-port VALUE",
	override.Schemes:    "--proto +VALUE",
	override.Redirects:  "--proto-redir +VALUE",
	override.Downgrade:  "--allow-downgrade",
	override.Login:      loginFlag,
	override.ProxyLogin: proxyLoginFlag,
	override.ProxyAuth:  "--proxy-anyauth " + proxyLoginFlag,
	override.ProxyTLS:   "--proxy-cacert FILE with the certificate of its issuer, or --proxy-insecure to skip verification (insecure)",
	override.Gateway:    "--gateway VALUE=URL",

	http.OverrideAuth:          "--anyauth " + loginFlag,
	doh.OverrideTLS:            "--cacert FILE with the certificate of its issuer, or --doh-insecure to skip verification (insecure)",
	ipfs.OverrideGateway:       "--ipfs-gateway URL, or IPFS_GATEWAY=URL in the environment",
	mail.OverrideMechanism:     "--sasl VALUE, or ;AUTH=VALUE in the URL",
	mail.OverrideStores:        "--mail-store STORE, an imap URL, a Maildir or an mbox",
	mail.OverrideIn:            "--in MESSAGE-URL",
	nfs.OverrideMountPort:      "--nfs-mount-port VALUE",
	nntp.OverrideServer:        "--news-server HOST, or NNTPSERVER=HOST in the environment",
	nntp.OverrideClearPassword: "--insecure-auth",
	pop.OverrideMechanism:      "--sasl VALUE, or ;AUTH=VALUE in the URL",
	sftp.OverrideHostKey:       "--hostpubsha256 VALUE",
}

// OverrideFlag returns the flags that change the setting o, such as
// "--allow-port http:25". If no flag changes the setting, the result is the
// name of the setting. The result is "" for the zero Setting.
func OverrideFlag(o override.Setting) string {
	text, ok := OverrideFlags[o.Kind]
	if !ok {
		return o.String()
	}
	return strings.ReplaceAll(text, "VALUE", o.Value)
}
