package arch

import (
	"slices"
	"strings"
	"testing"
)

// TestInjectedModules checks that programs link large modules only if they
// import the package that returns a value for the options of another package,
// such as mirror/postgres.
func TestInjectedModules(t *testing.T) {
	clients := []string{"github.com/jackc/", "github.com/aws/", "github.com/quic-go/", "github.com/jcmturner/", "github.com/ProtonMail/"}
	for _, c := range []struct {
		dir    string
		linked []string // modules that a program with this package links
	}{
		{"schemes", nil},
		{"mirror", nil},
		{"mirror/postgres", clients[0:1]},
		{"mirror/s3", nil},
		{"cmd/fetch", slices.Delete(slices.Clone(clients), 1, 2)}, // the SDK of AWS is linked only by a test
		{"schemes/http/h3", clients[2:3]},
		{"schemes/http/negotiate", clients[3:4]},
		{"verify/signature", clients[4:5]},
	} {
		all := dependencies(t, c.dir)
		for _, client := range clients {
			importer, linked := "", false
			for p, from := range all {
				if strings.HasPrefix(p, client) {
					importer, linked = from, true
				}
			}
			if want := slices.Contains(c.linked, client); linked != want {
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
