package nfs

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/internal/wire/oncrpc"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// The procedures of MOUNT version 3 and of the portmapper.
const (
	procNull    = 0
	procMount   = 1
	procExport  = 5
	procGetport = 3
	protocolTCP = 6
)

const (
	maxExports = 1000
	maxPath    = 1024 // bytes of the path of an export
)

// A mounter calls the MOUNT service.
type mounter struct {
	driver *driver
	s      *session // session of the NFS service
	own    *session // session of the MOUNT service; nil before the first call
}

// call calls a procedure of the MOUNT service. It uses the connection of the NFS
// service if both services have the same port. Otherwise it connects to the
// configured port, or to the port that the portmapper returns.
func (m *mounter) call(ctx context.Context, procedure uint32, args []byte) (*oncrpc.Decoder, *session, error) {
	if m.own == nil && m.driver.MountPort == 0 {
		_, err := m.s.call(mountProgram, procNull, nil)
		if err == nil {
			m.own = m.s
		} else if !isRejected(err) {
			return nil, nil, err
		}
	}
	if m.own == nil {
		if err := m.connect(ctx); err != nil {
			return nil, nil, err
		}
	}
	d, err := m.own.call(mountProgram, procedure, args)
	return d, m.own, err
}

// connect connects to the MOUNT service.
func (m *mounter) connect(ctx context.Context) (err error) {
	p := m.driver.MountPort
	if p == 0 {
		if p, err = m.queryPortmapper(ctx); err != nil {
			return err
		}
	}
	conn, err := m.driver.env.Net.DialPeer(ctx, m.s.NetConn, p)
	if fetch.FaultOf(err) == fetch.BadPort && m.driver.MountPort == 0 {
		return override.With(err, override.Setting{Kind: OverrideMountPort, Value: strconv.Itoa(int(p))})
	}
	if err != nil {
		return err
	}
	m.own = m.open(ctx, conn)
	return nil
}

// open returns a session for another service of the server. The end of ctx
// closes it.
func (m *mounter) open(ctx context.Context, conn net.Conn) *session {
	s := newSession(sessions.NewConn(conn, m.s.Trace(), ""), m.s.user)
	context.AfterFunc(ctx, s.Abort)
	return s
}

// close closes the connection to the MOUNT service.
func (m *mounter) close() {
	if m.own != nil && m.own != m.s {
		m.own.Close()
	}
}

// queryPortmapper returns the port of the MOUNT service.
func (m *mounter) queryPortmapper(ctx context.Context) (uint16, error) {
	conn, err := m.driver.env.Net.DialPeer(ctx, m.s.NetConn, portmapPort)
	if err != nil {
		return 0, err
	}
	s := m.open(ctx, conn)
	defer s.Close()
	var args []byte
	for _, v := range []uint32{mountProgram.number, mountProgram.version, protocolTCP, 0} {
		args = oncrpc.AppendUint32(args, v)
	}
	d, err := s.call(portmapProgram, procGetport, args)
	if err != nil {
		return 0, err
	}
	p := d.Uint32()
	switch {
	case d.Err() != nil:
		return 0, wireFault(d.Err())
	case p == 0 || p > 0xFFFF:
		return 0, fetch.Unsupported.Errorf("server has neither a public file handle nor a MOUNT service over TCP")
	}
	return uint16(p), nil
}

// listExports returns the exported directories.
func (m *mounter) listExports(ctx context.Context) (all []string, err error) {
	d, s, err := m.call(ctx, procExport, nil)
	if err != nil {
		return nil, err
	}
	for d.Bool() {
		dir := string(d.Opaque(maxPath))
		for groups := 0; d.Bool(); groups++ {
			if d.Opaque(maxPath); groups == maxExports {
				d.Fail("export of more than %d groups", maxExports)
			}
		}
		if len(all) == maxExports {
			d.Fail("more than %d exports", maxExports)
		}
		if strings.HasPrefix(dir, "/") && d.Err() == nil {
			all = append(all, dir)
		}
	}
	if err := s.check(d); err != nil {
		return nil, err
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// guessExport returns the first directory on a path that can be mounted. Some
// servers do not list their exports.
func (m *mounter) guessExport(ctx context.Context, path []string) ([]string, error) {
	for n := range len(path) + 1 {
		dir := "/" + strings.Join(path[:n], "/")
		_, err := m.mount(ctx, dir)
		if err == nil {
			return []string{dir}, nil
		}
		if statusOf(err) == 0 || n == len(path) {
			return nil, err
		}
	}
	return nil, nil
}

// mount returns the file handle of an exported directory.
func (m *mounter) mount(ctx context.Context, dir string) (handle, error) {
	if h, ok := m.s.mounted[dir]; ok {
		return h, nil
	}
	d, s, err := m.call(ctx, procMount, oncrpc.AppendOpaque(nil, dir))
	if err != nil {
		return nil, err
	}
	if err := s.status(d); err != nil {
		return nil, err
	}
	h := append(handle{}, d.Opaque(maxHandle)...)
	if err := s.check(d); err != nil {
		return nil, err
	}
	m.s.mounted[dir] = h
	return h, nil
}

// exportOf returns the exported directory that contains a path, and the rest of
// the path. The longest matching directory is chosen.
func exportOf(exports []string, path []string) (dir string, rest []string, ok bool) {
	best := -1
	for _, e := range exports {
		names := splitPath(e)
		if len(names) > best && len(names) <= len(path) && slices.Equal(names, path[:len(names)]) {
			dir, rest, best = e, path[len(names):], len(names)
		}
	}
	return dir, rest, best >= 0
}

// splitPath splits a path of the server into names, without empty ones.
func splitPath(path string) (names []string) {
	for name := range strings.SplitSeq(path, "/") {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}
