package clientflags

import (
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/schemes/urn"
)

// schemeFlags are the flags of schemes with few flags: afs, tftp and urn.
type schemeFlags struct {
	afsRoot       string
	templates     []string
	tftpBlockSize int
	tftpNoOptions bool
}

func (f *schemeFlags) register(s *options.Set) {
	p := s.Section("Other schemes")
	p.StringArrayVar(&f.templates, "urn", nil, "`NAMESPACE=URL`: resolve URNs by URL, with {nss}, {urn}, {r} and {q} for their parts")
	p.StringVar(&f.afsRoot, "afs-root", "", "use `DIR` as the root of afs URLs (default /afs)")
	p.IntVar(&f.tftpBlockSize, "tftp-blksize", 0, "request blocks of `BYTES` from tftp servers (default 1428)")
	p.BoolVar(&f.tftpNoOptions, "tftp-no-options", false, "send no options to tftp servers")
}

// apply sets the options of the schemes.
func (f *schemeFlags) apply(o *schemes.Options) error {
	o.AFS.Root = f.afsRoot
	o.TFTP.BlockSize, o.TFTP.NoOptions = f.tftpBlockSize, f.tftpNoOptions
	for _, text := range f.templates {
		t, err := urn.ParseTemplate(text)
		if err != nil {
			return err
		}
		o.URN.Templates = append(o.URN.Templates, t)
	}
	return nil
}
