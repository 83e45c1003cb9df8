// Package schemes lists all URL schemes of this module, as arguments for
// fetch.New. NewClient returns a Client that suits most programs.
package schemes

import (
	"slices"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/afs"
	"github.com/anyurl/fetch/schemes/data"
	"github.com/anyurl/fetch/schemes/dict"
	"github.com/anyurl/fetch/schemes/file"
	"github.com/anyurl/fetch/schemes/finger"
	"github.com/anyurl/fetch/schemes/ftp"
	"github.com/anyurl/fetch/schemes/gemini"
	"github.com/anyurl/fetch/schemes/gopher"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/http/ipfs"
	"github.com/anyurl/fetch/schemes/http/s3"
	"github.com/anyurl/fetch/schemes/ldap"
	"github.com/anyurl/fetch/schemes/mail"
	"github.com/anyurl/fetch/schemes/mailserver"
	"github.com/anyurl/fetch/schemes/nfs"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/schemes/pop"
	"github.com/anyurl/fetch/schemes/prospero"
	"github.com/anyurl/fetch/schemes/rsync"
	"github.com/anyurl/fetch/schemes/sftp"
	"github.com/anyurl/fetch/schemes/smb"
	"github.com/anyurl/fetch/schemes/telnet"
	"github.com/anyurl/fetch/schemes/tftp"
	"github.com/anyurl/fetch/schemes/urn"
	"github.com/anyurl/fetch/schemes/wais"
	"github.com/anyurl/fetch/schemes/whois"
	"github.com/anyurl/fetch/schemes/whoispp"
	"github.com/anyurl/fetch/schemes/z3950"
	"github.com/anyurl/fetch/wrap"
)

// NewClient returns a Client with all schemes and with the middlewares of
// [wrap.Standard], which retry transient errors and resume interrupted bodies.
// It reads neither environment variables nor configuration files. The caller
// closes the Client.
//
// A program that needs a proxy, logins or other options calls [fetch.New]:
//
//	options := fetch.Options{Policy: policy, Wrap: wrap.Standard(wrap.Options{})}
//	client := fetch.New(options, schemes.All(schemes.Options{})...)
func NewClient(policy fetch.Policy) *fetch.Client {
	return fetch.New(fetch.Options{Policy: policy, Wrap: wrap.Standard(wrap.Options{})}, All(Options{})...)
}

// Options contains the options of each scheme package. The zero value is valid.
type Options struct {
	AFS      afs.Options
	File     file.Options
	FTP      ftp.Options
	Gemini   gemini.Options
	Gopher   gopher.Options
	HTTP     http.Options
	IPFS     ipfs.Options
	LDAP     ldap.Options
	Mail     mail.Options
	NFS      nfs.Options
	NNTP     nntp.Options
	POP      pop.Options
	Prospero prospero.Options
	S3       s3.Options
	SFTP     sftp.Options
	Telnet   telnet.Options
	TFTP     tftp.Options
	URN      urn.Options
	WAIS     wais.Options
	Z3950    z3950.Options
}

// All returns every scheme of this module, configured by o. A program that
// needs only some schemes calls the function Schemes of their packages instead.
func All(o Options) []fetch.Scheme {
	return slices.Concat(
		afs.Schemes(o.AFS),
		data.Schemes(),
		dict.Schemes(),
		file.Schemes(o.File),
		finger.Schemes(),
		ftp.Schemes(o.FTP),
		gemini.Schemes(o.Gemini),
		gopher.Schemes(o.Gopher),
		http.Schemes(o.HTTP),
		ipfs.Schemes(o.IPFS),
		ldap.Schemes(o.LDAP),
		mail.Schemes(o.Mail),
		mailserver.Schemes(),
		nfs.Schemes(o.NFS),
		nntp.Schemes(o.NNTP),
		pop.Schemes(o.POP),
		prospero.Schemes(o.Prospero),
		rsync.Schemes(),
		s3.Schemes(o.S3),
		sftp.Schemes(o.SFTP),
		smb.Schemes(),
		telnet.Schemes(o.Telnet),
		tftp.Schemes(o.TFTP),
		urn.Schemes(o.URN),
		wais.Schemes(o.WAIS),
		whois.Schemes(),
		whoispp.Schemes(),
		z3950.Schemes(o.Z3950),
	)
}
