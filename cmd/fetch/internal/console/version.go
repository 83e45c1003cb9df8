package console

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
)

// A buildVersion identifies the source code of the program.
type buildVersion struct {
	Number   string // such as 0.1.0, or "dev" for a build of an unknown version
	commit   string // hash of the git commit, or ""
	date     string // date of the commit, such as 2026-11-22, or ""
	modified bool   // if true, the build contains uncommitted changes
}

// CurrentVersion returns the version of the running program. It parses the build
// information once, because this information lists all modules.
var CurrentVersion = sync.OnceValue(func() buildVersion {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return versionOf(info)
})

// versionOf returns the version in the build information. "go build" derives it
// from the tag of the commit. "go install MODULE@VERSION" stores VERSION.
func versionOf(info *debug.BuildInfo) buildVersion {
	v := buildVersion{Number: strings.TrimPrefix(info.Main.Version, "v")}
	if v.Number == "" || v.Number == "(devel)" {
		v.Number = "dev"
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.commit = s.Value
		case "vcs.time":
			v.date, _, _ = strings.Cut(s.Value, "T")
		case "vcs.modified":
			v.modified = s.Value == "true"
		}
	}
	return v
}

// Product returns the name and the version of the program, such as
// "fetch/0.1.0", for servers and WARC files.
func Product() string { return "fetch/" + CurrentVersion().Number }

// features lists the content codings, protocols and file formats that the
// program supports. Scripts may test for them, because earlier or later versions
// may support others.
var features = []string{
	"alt-svc", "brotli", "deflate", "gzip", "HSTS", "HTTP2", "HTTP3", "HTTPS-proxy", "IDN", "IPv6", "Kerberos", "PSL", "SOCKS", "SPNEGO", "SQLite", "TLS1.3", "WACZ", "WARC", "zstd",
}

// VersionText returns the output of --version, in the format of curl --version.
func VersionText(v buildVersion) string {
	var b strings.Builder
	fmt.Fprintf(&b, "fetch %s (%s/%s) %s\n", v.Number, runtime.GOOS, runtime.GOARCH, runtime.Version())
	if v.commit != "" {
		fmt.Fprintf(&b, "Commit: %s %s", v.commit, v.date)
		if v.modified {
			b.WriteString(" (with uncommitted changes)")
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "Schemes: %s\n", strings.Join(SchemeNames(), " "))
	fmt.Fprintf(&b, "Features: %s", strings.Join(features, " "))
	return b.String()
}

// SchemeNames returns the names of all supported schemes in alphabetical order.
func SchemeNames() (names []string) {
	for _, s := range schemes.All(schemes.Options{}) {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}

// SchemeByName returns a function that returns the scheme with a name, or the
// zero Scheme.
func SchemeByName() func(name string) fetch.Scheme {
	return fetch.New(fetch.Options{}, schemes.All(schemes.Options{})...).Scheme
}
