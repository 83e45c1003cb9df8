package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	maintainer  = "The fetch authors <anyurl@users.noreply.github.com>"
	homepage    = "https://github.com/anyurl/fetch"
	description = `download, mirror and archive URLs of any scheme
fetch retrieves the object that a URL names, over old and new protocols:
http, ftp, gopher, news, imap, wais, telnet, prospero, file and more. It
mirrors sites and writes WARC and WACZ archives.`
)

// A packageConfig is the configuration of nfpm. nfpm reads YAML, of which JSON
// is a subset.
type packageConfig struct {
	Name        string           `json:"name"`
	Arch        string           `json:"arch"`
	Version     string           `json:"version"`
	Release     string           `json:"release"`
	Section     string           `json:"section"`
	Maintainer  string           `json:"maintainer"`
	Vendor      string           `json:"vendor"`
	Description string           `json:"description"`
	Homepage    string           `json:"homepage"`
	License     string           `json:"license"`
	Recommends  []string         `json:"recommends"`
	Suggests    []string         `json:"suggests"`
	NoGlobs     bool             `json:"disable_globbing"`
	Umask       os.FileMode      `json:"umask"`
	Contents    []packageContent `json:"contents"`
	RPM         packageRPM       `json:"rpm"`
}

type packageRPM struct {
	BuildHost string `json:"buildhost"`
	Group     string `json:"group"`
}

type packageContent struct {
	Source      string      `json:"src"`
	Destination string      `json:"dst"`
	Packager    string      `json:"packager,omitempty"` // "deb" or "rpm"; "" means both
	Info        contentInfo `json:"file_info"`
}

type contentInfo struct {
	Mode os.FileMode `json:"mode"`
}

// packageAll writes a .deb and an .rpm file for each Linux platform.
func (r *release) packageAll() error {
	contents, err := r.packageContents()
	if err != nil {
		return err
	}
	env := []string{"GOFLAGS=", "SOURCE_DATE_EPOCH=" + strconv.FormatInt(r.date.Unix(), 10)}
	for _, p := range r.platforms {
		if p.system != "linux" {
			continue
		}
		program := packageContent{r.binary(p), "/usr/bin/fetch", "", contentInfo{0o755}}
		config, err := json.MarshalIndent(packageConfig{
			Name: "fetch", Arch: p.processor, Version: r.version, Release: "1", Section: "net", Maintainer: maintainer,
			Vendor: "anyurl", Description: description, Homepage: homepage, License: "MIT", NoGlobs: true, Umask: 0o022,
			Recommends: []string{"ca-certificates"}, Suggests: []string{"bash-completion"},
			Contents: append([]packageContent{program}, contents...),
			RPM:      packageRPM{BuildHost: "localhost", Group: "Applications/Internet"},
		}, "", "\t")
		if err != nil {
			return err
		}
		name := filepath.Join(r.work, p.String()+".json")
		if err := os.WriteFile(name, config, 0o644); err != nil {
			return err
		}
		for _, packager := range []string{"deb", "rpm"} {
			_, err := r.command(env, "go", "tool", "-modfile=tools.mod", "nfpm", "package", "-f", name, "-p", packager, "-t", r.out)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// packageContents writes the files that only the packages contain, such as
// compressed manual pages. It returns all files of the packages except the
// binary.
func (r *release) packageContents() (all []packageContent, err error) {
	folder := filepath.Join(r.work, "package")
	if err := os.Mkdir(folder, 0o755); err != nil {
		return nil, err
	}
	add := func(source, destination, packager string) {
		all = append(all, packageContent{source, destination, packager, contentInfo{0o644}})
	}
	compress := func(source, destination, packager string) error {
		target := filepath.Join(folder, path.Base(destination))
		add(target, destination, packager)
		return writeGzip(target, source)
	}
	pages, err := filepath.Glob(filepath.Join(r.work, "man", "*.1"))
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		if err := compress(page, "/usr/share/man/man1/"+filepath.Base(page)+".gz", ""); err != nil {
			return nil, err
		}
	}
	if err := r.writeDebianFiles(folder); err != nil {
		return nil, err
	}
	const doc = "/usr/share/doc/fetch/"
	for name, source := range map[string]string{
		"changelog.gz":        filepath.Join(r.root, "CHANGELOG.md"),
		"changelog.Debian.gz": filepath.Join(folder, "changelog.Debian"),
	} {
		if err := compress(source, doc+name, "deb"); err != nil {
			return nil, err
		}
	}
	if err := compress(filepath.Join(r.work, noticesName), doc+noticesName+".gz", ""); err != nil {
		return nil, err
	}
	scripts := filepath.Join(r.work, "completions")
	add(filepath.Join(scripts, completions["bash"]), "/usr/share/bash-completion/completions/fetch", "")
	add(filepath.Join(scripts, completions["fish"]), "/usr/share/fish/vendor_completions.d/fetch.fish", "")
	add(filepath.Join(scripts, completions["zsh"]), "/usr/share/zsh/vendor-completions/_fetch", "deb")
	add(filepath.Join(scripts, completions["zsh"]), "/usr/share/zsh/site-functions/_fetch", "rpm")
	add(filepath.Join(folder, "copyright"), doc+"copyright", "")
	add(filepath.Join(folder, "overrides"), "/usr/share/lintian/overrides/fetch", "deb")
	add(filepath.Join(r.root, "README.md"), doc+"README.md", "")
	for _, name := range []string{"fetch-mirror@.service", "fetch-mirror@.timer", "fetch-crawl@.service"} {
		add(filepath.Join(r.root, "packaging", "systemd", name), doc+"examples/"+name, "")
	}
	return all, nil
}

// writeDebianFiles writes the Debian changelog, the copyright file and the
// lintian overrides to folder.
func (r *release) writeDebianFiles(folder string) error {
	licence, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return err
	}
	version := strings.Replace(r.version, "-", "~", 1) + "-1" // with "~", a prerelease sorts before its release
	for name, text := range map[string]string{
		"changelog.Debian": fmt.Sprintf("fetch (%s) unstable; urgency=medium\n\n  * New release. changelog.gz lists the changes.\n\n"+
			" -- %s  %s\n", version, maintainer, r.date.Format(time.RFC1123Z)),
		"copyright": fmt.Sprintf("Source: %s\n\n%s\nThe binary contains modules with other licences, which are in "+
			"/usr/share/doc/fetch/%s.\n", homepage, licence, noticesName+".gz"),
		"overrides": lintianOverrides,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// lintianOverrides lists the accepted warnings of lintian.
const lintianOverrides = `# The binary is static, so that it runs on every distribution.
fetch: statically-linked-binary [usr/bin/fetch]
# The package is not a part of Debian.
fetch: initial-upload-closes-no-bugs [usr/share/doc/fetch/changelog.Debian.gz:1]
`
