// Package schemes lists every scheme of this module, for fetch.New.
package schemes

import (
	"slices"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/file"
	"github.com/anyurl/fetch/schemes/ftp"
	"github.com/anyurl/fetch/schemes/gopher"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/mail"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/schemes/prospero"
	"github.com/anyurl/fetch/schemes/telnet"
	"github.com/anyurl/fetch/schemes/wais"
)

// Options are those of each package. The zero value is right for most.
type Options struct {
	File     file.Options
	FTP      ftp.Options
	Gopher   gopher.Options
	HTTP     http.Options
	Mail     mail.Options
	NNTP     nntp.Options
	Prospero prospero.Options
	Telnet   telnet.Options
	WAIS     wais.Options
}

// All returns every scheme. A program that wants fewer calls the packages'
// own Schemes instead.
func All(o Options) []fetch.Scheme {
	return slices.Concat(
		file.Schemes(o.File),
		ftp.Schemes(o.FTP),
		gopher.Schemes(o.Gopher),
		http.Schemes(o.HTTP),
		mail.Schemes(o.Mail),
		nntp.Schemes(o.NNTP),
		prospero.Schemes(o.Prospero),
		telnet.Schemes(o.Telnet),
		wais.Schemes(o.WAIS),
	)
}
