package arch

import (
	"strings"
	"testing"
)

// TestMirrorWithoutServers checks that a program that imports package mirror
// links no client of PostgreSQL and S3, which are in mirror/postgres and
// mirror/s3.
func TestMirrorWithoutServers(t *testing.T) {
	clients := []string{"github.com/jackc/", "github.com/aws/"}
	for _, c := range []struct {
		dir    string
		linked []string // clients that a program with this package links
	}{
		{"mirror", nil},
		{"mirror/postgres", clients[:1]},
		{"mirror/s3", clients[1:]},
	} {
		all := dependencies(t, c.dir)
		for _, client := range clients {
			importer, linked := "", false
			for p, from := range all {
				if strings.HasPrefix(p, client) {
					importer, linked = from, true
				}
			}
			if want := len(c.linked) > 0 && c.linked[0] == client; linked != want {
				t.Errorf("%s: %s is linked: %t (%s), want %t", c.dir, client, linked, importer, want)
			}
		}
	}
}

// dependencies returns the packages that the package in dir imports, directly or
// through packages of this module. Each value is a file that imports the package.
func dependencies(t *testing.T, dir string) map[string]string {
	t.Helper()
	all, todo := map[string]string{}, []string{dir}
	parsed := files(t)
	for len(todo) > 0 {
		next := todo[0]
		todo = todo[1:]
		for _, f := range parsed {
			if f.dir != next {
				continue
			}
			for _, p := range imports(f) {
				if _, seen := all[p]; seen {
					continue
				}
				all[p] = f.name
				if own, ours := strings.CutPrefix(p, module); ours {
					todo = append(todo, own)
				}
			}
		}
	}
	return all
}

// TestMirrorEnvironment checks that package mirror and its parts read no
// environment variables. The program passes the access keys.
func TestMirrorEnvironment(t *testing.T) {
	for _, f := range files(t) {
		if !isBelow(f.dir, "mirror") || isTestOnly(f.dir) {
			continue
		}
		eachSelector(t, f, func(pkg, name string) {
			switch pkg + "." + name {
			case "os.Getenv", "os.LookupEnv", "os.Environ", "os.ExpandEnv":
				t.Errorf("%s: os.%s reads the environment", f.name, name)
			}
		})
	}
}
