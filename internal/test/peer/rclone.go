package peer

import "path/filepath"

// RcloneDAV starts the WebDAV server of rclone (Debian rclone), which serves Root
// and cannot write.
func RcloneDAV(t TB) *Server {
	t.Helper()
	program := Need(t, "rclone", "rclone")
	s := newServer(t)
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		config := filepath.Join(s.Dir, "rclone.conf")
		args := []string{"serve", "webdav", s.Root, "--addr", s.Addr, "--read-only", "--config", config, "--cache-dir", filepath.Join(s.Dir, "cache")}
		return command{path: program, args: args, user: unprivileged()}
	})
}

// ApacheDAV starts apache2 with WebDAV for Root.
func ApacheDAV(t TB) *Server {
	t.Helper()
	return Apache(t, ApacheOptions{Config: []string{
		"LoadModule dav_module /usr/lib/apache2/modules/mod_dav.so",
		"LoadModule dav_fs_module /usr/lib/apache2/modules/mod_dav_fs.so",
		"DavLockDB /tmp/fetch-peer-davlock",
		"<Location />\nDav On\n</Location>",
	}})
}
