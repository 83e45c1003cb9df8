//go:build !linux

package peer

// isolated skips the test, because network namespaces exist only on Linux.
func (s *Server) isolated(func() command) *Server {
	s.t.Skipf("network namespaces need Linux")
	return s
}
