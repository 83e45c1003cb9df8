package nfs

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// maxLinks is the maximum number of symbolic links in a path.
const maxLinks = 20

// A root is the directory at which the paths of a walk begin.
type root struct {
	handle
	dir string // the exported directory, or "" for the public file handle
}

// errOutside is the error for a symbolic link whose target is outside of the
// export.
func errOutside() error {
	return fetch.Denied.Errorf("a symbolic link leads out of the exported directory")
}

// A walk is a position in a directory tree. It contains the directories on the
// path from the root.
type walk struct {
	root
	stack []handle // without the root
	links int
}

func (w *walk) top() handle {
	if len(w.stack) == 0 {
		return w.handle
	}
	return w.stack[len(w.stack)-1]
}

// resolve returns the file at a path relative to the directory r. It follows
// symbolic links inside the export, also at the end of the path.
func (s *session) resolve(r root, path []string) (n node, err error) {
	w := &walk{root: r}
	if r.dir == "" {
		return s.resolvePublic(w, path)
	}
	return s.resolveFrom(w, path)
}

// resolveFrom looks up each name of a path.
func (s *session) resolveFrom(w *walk, path []string) (n node, err error) {
	for len(path) > 0 {
		name := path[0]
		path = path[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			if len(w.stack) == 0 {
				return n, errOutside()
			}
			w.stack = w.stack[:len(w.stack)-1]
			continue
		}
		if n, err = s.lookup(w.top(), name); err != nil {
			return n, err
		}
		if n.kind != typeLink {
			w.stack = append(w.stack, n.handle)
			continue
		}
		if path, err = s.follow(w, n, path); err != nil {
			return n, err
		}
	}
	n.handle = w.top()
	n.attributes, err = s.getattr(n.handle)
	return n, err
}

// follow replaces a symbolic link in a path. It returns the names of the link's
// target, followed by the rest of the path.
func (s *session) follow(w *walk, link node, rest []string) ([]string, error) {
	if w.links++; w.links > maxLinks {
		return nil, fetch.Loop.Errorf("more than %d symbolic links", maxLinks)
	}
	target, err := s.readlink(link.handle)
	if err != nil {
		return nil, err
	}
	names := strings.Split(target, "/")
	if strings.HasPrefix(target, "/") {
		_, inside, ok := exportOf([]string{w.dir}, splitPath(target))
		if !ok || w.dir == "" { // the path of the public file handle is unknown
			return nil, errOutside()
		}
		w.stack, names = nil, inside
	}
	if len(names)+len(rest) > maxDepth {
		return nil, fetch.Denied.Errorf("a symbolic link has a target of more than %d names", maxDepth)
	}
	return append(names[:len(names):len(names)], rest...), nil
}

// resolvePublic looks up a path relative to the public file handle. The server
// resolves the complete path. The driver follows a symbolic link at the end.
func (s *session) resolvePublic(w *walk, path []string) (n node, err error) {
	for {
		if len(path) == 0 {
			n.handle = w.handle
			n.attributes, err = s.getattr(w.handle)
			return n, err
		}
		if n, err = s.lookup(w.handle, strings.Join(path, "/")); err != nil || n.kind != typeLink {
			return n, err
		}
		names, err := s.follow(w, n, nil)
		if err != nil {
			return n, err
		}
		if path, err = join(path[:len(path)-1], names); err != nil {
			return n, err
		}
	}
}

// join returns the path of a link's target relative to the directory of the
// link.
func join(dir, names []string) ([]string, error) {
	path := dir[:len(dir):len(dir)]
	for _, name := range names {
		switch name {
		case "", ".":
		case "..":
			if len(path) == 0 || path[len(path)-1] == "" {
				return nil, errOutside()
			}
			path = path[:len(path)-1]
		default:
			path = append(path[:len(path):len(path)], name)
		}
	}
	return path, nil
}
