package clientflags

import (
	"strconv"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/nfs"
)

// nfsFlags are the flags for NFS servers.
type nfsFlags struct {
	user      string
	mountPort uint16
}

func (f *nfsFlags) register(s *options.Set) {
	p := s.Section("NFS")
	p.StringVar(&f.user, "nfs-user", "", "access NFS servers with the numeric ids `UID:GID` (default 65534:65534)")
	p.Uint16Var(&f.mountPort, "nfs-mount-port", 0, "use the MOUNT service at `PORT` instead of asking the portmapper")
}

// options converts the flags to options of the nfs package.
func (f *nfsFlags) options() (o nfs.Options, err error) {
	o.MountPort = f.mountPort
	if f.user == "" {
		return o, nil
	}
	uid, gid, ok := strings.Cut(f.user, ":")
	u, err := strconv.ParseUint(uid, 10, 32)
	g, err2 := strconv.ParseUint(gid, 10, 32)
	if !ok || err != nil || err2 != nil {
		return o, fetch.Usage.Errorf("--nfs-user is UID:GID, two numbers, not %q", f.user)
	}
	o.User = &nfs.User{UID: uint32(u), GID: uint32(g)}
	return o, nil
}
