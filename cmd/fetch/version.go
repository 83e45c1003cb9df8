package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
)

// A buildVersion identifies the source code of the program.
type buildVersion struct {
	number   string // such as 0.1.0, or "dev" for a build of an unknown version
	commit   string // hash of the git commit, or ""
	date     string // date of the commit, such as 2026-11-22, or ""
	modified bool   // if true, the build contains uncommitted changes
}

// currentVersion returns the version of the running program.
func currentVersion() buildVersion {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return versionOf(info)
}

// versionOf returns the version in the build information. "go build" derives it
// from the tag of the commit. "go install MODULE@VERSION" stores VERSION.
func versionOf(info *debug.BuildInfo) buildVersion {
	v := buildVersion{number: strings.TrimPrefix(info.Main.Version, "v")}
	if v.number == "" || v.number == "(devel)" {
		v.number = "dev"
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

// product returns the name and the version of the program, such as
// "fetch/0.1.0", for servers and WARC files.
func product() string { return "fetch/" + currentVersion().number }

// features lists the content codings, protocols and file formats that the
// program supports. Scripts may test for them, because earlier or later versions
// may support others.
var features = []string{
	"brotli", "deflate", "gzip", "HTTP2", "HTTPS-proxy", "IDN", "IPv6", "PSL", "SOCKS", "SQLite", "TLS1.3", "WACZ", "WARC", "zstd",
}

// versionText returns the output of --version, in the format of curl --version.
func versionText(v buildVersion) string {
	var b strings.Builder
	fmt.Fprintf(&b, "fetch %s (%s/%s) %s\n", v.number, runtime.GOOS, runtime.GOARCH, runtime.Version())
	if v.commit != "" {
		fmt.Fprintf(&b, "Commit: %s %s", v.commit, v.date)
		if v.modified {
			b.WriteString(" (with uncommitted changes)")
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "Schemes: %s\n", strings.Join(schemeNames(), " "))
	fmt.Fprintf(&b, "Features: %s", strings.Join(features, " "))
	return b.String()
}

// schemeNames returns the names of all supported schemes in alphabetical order.
func schemeNames() (names []string) {
	for _, s := range schemes.All(schemes.Options{}) {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}

// schemeByName returns a function that returns the scheme with a name, or the
// zero Scheme.
func schemeByName() func(name string) fetch.Scheme {
	return fetch.New(fetch.Options{}, schemes.All(schemes.Options{})...).Scheme
}
