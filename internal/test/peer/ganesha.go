package peer

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Ganesha starts the NFS server nfs-ganesha (Debian nfs-ganesha,
// nfs-ganesha-vfs). It exports Root over NFS version 3 and TCP, read only. The
// path of the export is the path of Root. The MOUNT service uses the port after
// Port. Ganesha needs a portmapper, which listens only on a Unix socket in a
// mount namespace. Ganesha requires permission to mount file systems.
//
// The lines of export are added to the configuration of the export, such as
// "PrivilegedPort = true;".
func Ganesha(t TB, export ...string) *Server {
	t.Helper()
	program := Need(t, "ganesha.nfsd", "nfs-ganesha")
	Need(t, "rpcbind", "rpcbind")
	plugin := needLibrary(t, filepath.Join("ganesha", "libfsalvfs.so"), "nfs-ganesha-vfs")
	NeedRoot(t, "nfs-ganesha")
	unshare := needMount(t, "nfs-ganesha")
	s := newServer(t)
	netconfig := s.config("netconfig", "local tpi_cots_ord - loopback - - -\n")
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		conf := s.config("ganesha.conf", fmt.Sprintf(ganeshaConfig, base, base+1, host, filepath.Dir(plugin), s.Root, strings.Join(export, "\n")))
		return command{path: unshare, args: []string{"--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ganeshaScript, "sh",
			netconfig, program, "-F", "-f", conf, "-L", filepath.Join(s.Dir, "ganesha.log"), "-p", filepath.Join(s.Dir, "pid")}}
	})
}

// ganeshaScript starts rpcbind, which listens only on a Unix socket, and then
// ganesha.
const ganeshaScript = `netconfig=$1; shift
mount -t tmpfs none /run && mkdir -p /run/rpcbind /run/ganesha && mount --bind "$netconfig" /etc/netconfig || exit 1
rpcbind -f -w &
while [ ! -S /run/rpcbind.sock ]; do sleep 0.02; done
umount /etc/netconfig && exec "$@"`

const ganeshaConfig = `
NFS_CORE_PARAM {
	Protocols = 3; NFS_Port = %d; MNT_Port = %d; Bind_addr = %s; Plugins_Dir = "%s";
	Enable_NLM = false; Enable_RQUOTA = false; Enable_UDP = false;
}
NFSV4 { Graceless = true; }
NFS_KRB5 { Active_krb5 = false; }
EXPORT {
	Export_Id = 1; Path = %[5]s; Pseudo = /root; Protocols = 3; Transports = TCP;
	Access_Type = RO; Squash = No_Root_Squash; SecType = sys; FSAL { Name = VFS; }
	%[6]s
}
`
