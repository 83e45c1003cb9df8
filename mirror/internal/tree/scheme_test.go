package tree

import (
	"slices"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/file"
	"github.com/anyurl/fetch/schemes/ftp"
	"github.com/anyurl/fetch/schemes/gemini"
	"github.com/anyurl/fetch/schemes/gopher"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/mail"
	"github.com/anyurl/fetch/schemes/nfs"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/schemes/prospero"
	"github.com/anyurl/fetch/schemes/sftp"
	"github.com/anyurl/fetch/schemes/wais"
	"github.com/anyurl/fetch/uri"
)

// schemeNamed returns the scheme with a name, or the zero Scheme.
var schemeNamed = fetch.New(fetch.Options{}, slices.Concat(file.Schemes(file.Options{}), ftp.Schemes(ftp.Options{}),
	gemini.Schemes(gemini.Options{}), gopher.Schemes(gopher.Options{}), http.Schemes(http.Options{}), mail.Schemes(mail.Options{}),
	nfs.Schemes(nfs.Options{}), nntp.Schemes(nntp.Options{}), prospero.Schemes(prospero.Options{}), sftp.Schemes(sftp.Options{}),
	wais.Schemes(wais.Options{}))...).Scheme

// pathIn returns the path of u in the Layout l.
func pathIn(l Layout, u uri.URI, menu bool) string { return l.Path(schemeNamed(u.Scheme()), u, menu) }

// newPath returns the path of u in the newest Layout.
func newPath(u uri.URI, menu bool) string { return pathIn(NewLayout, u, menu) }
