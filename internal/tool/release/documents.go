package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// completions maps the shells to the names of their completion scripts.
var completions = map[string]string{
	"bash": "fetch.bash", "fish": "fetch.fish", "powershell": "fetch.ps1", "zsh": "_fetch",
}

// document writes the manual pages, the completion scripts and the licences of
// the dependencies to the temporary folder.
func (r *release) document() error {
	program, err := r.hostBinary()
	if err != nil {
		return err
	}
	if _, err := r.command(nil, program, "man", filepath.Join(r.work, "man")); err != nil {
		return err
	}
	folder := filepath.Join(r.work, "completions")
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	for shell, name := range completions {
		script, err := r.command(nil, program, "completion", shell)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), []byte(script), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return r.writeLicences()
}

// hostBinary returns the path of a binary that this machine can run. It builds
// the binary if the release does not include the platform of this machine.
func (r *release) hostBinary() (string, error) {
	p := host()
	if slices.Contains(r.platforms, p) {
		return r.binary(p), nil
	}
	return r.binary(p), r.build(p)
}

// documents returns the files of an archive except the binary, sorted by name.
func (r *release) documents() (all []member, err error) {
	for folder, pattern := range map[string]string{
		r.root:                               "*.md",
		filepath.Join(r.root, "doc"):         "*.md",
		filepath.Join(r.work, "man"):         "*.1",
		filepath.Join(r.work, "completions"): "*",
	} {
		paths, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil || len(paths) == 0 {
			return nil, fmt.Errorf("no files %s in %s: %w", pattern, folder, err)
		}
		for _, source := range paths {
			name := filepath.Base(source)
			if folder != r.root {
				name = filepath.Base(folder) + "/" + name
			}
			all = append(all, member{name, source, 0o644})
		}
	}
	all = append(all, member{"LICENSE", filepath.Join(r.root, "LICENSE"), 0o644},
		member{noticesName, filepath.Join(r.work, noticesName), 0o644})
	slices.SortFunc(all, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// noticesName is the name of the file with the licences of the dependencies.
const noticesName = "THIRD-PARTY-NOTICES"

// writeLicences writes the file noticesName with the licences of Go and of all
// modules in the binaries.
func (r *release) writeLicences() error {
	modules := map[string]bool{}
	for _, p := range r.platforms {
		info, err := buildinfo.ReadFile(r.binary(p))
		if err != nil {
			return err
		}
		for _, m := range info.Deps {
			modules[m.Path] = true
		}
	}
	goroot, err := r.command(nil, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	list, err := r.command(nil, "go", append([]string{"list", "-m", "-f", "{{.Path}} {{.Version}}\t{{.Dir}}"},
		slices.Sorted(maps.Keys(modules))...)...)
	if err != nil {
		return err
	}
	return create(filepath.Join(r.work, noticesName), func(w io.Writer) error {
		if err := copyLicences(w, "Go", strings.TrimSpace(goroot)); err != nil {
			return err
		}
		for line := range strings.Lines(list) {
			name, dir, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			if err := copyLicences(w, name, dir); err != nil {
				return err
			}
		}
		return nil
	})
}

// licenceFile matches the names of files with licences and notices.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright|unlicense)`)

// copyLicences writes the licences of a module to w. It returns an error if the
// folder dir of the module contains no licence.
func copyLicences(w io.Writer, module, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		found = true
		_, err = fmt.Fprintf(w, "==== %s: %s\n\n%s\n\n", module, e.Name(), strings.TrimSpace(string(text)))
		if err != nil {
			return err
		}
	}
	if !found {
		return errors.New("no licence of " + module + " in " + dir)
	}
	return nil
}

// writeNotes copies the section of CHANGELOG.md for the version to
// RELEASE-NOTES.md.
func (r *release) writeNotes() error {
	text, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	section, err := changes(string(text), r.version)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "RELEASE-NOTES.md"), []byte(section), 0o644)
}

// changes returns the section of a changelog that describes the version. For a
// prerelease or a commit without a tag, it falls back to the section
// "Unreleased".
func changes(changelog, version string) (string, error) {
	section := findSection(changelog, version)
	if section == "" && strings.ContainsAny(version, "-+") {
		section = findSection(changelog, "Unreleased")
	}
	if section == "" {
		return "", fmt.Errorf("CHANGELOG.md has no section %q", version)
	}
	return section, nil
}

// findSection returns the section of a changelog with the given title, or "".
func findSection(changelog, title string) string {
	var section strings.Builder
	for line := range strings.Lines(changelog) {
		heading, ok := strings.CutPrefix(line, "## ")
		switch {
		case ok && section.Len() > 0:
			return strings.TrimSpace(section.String()) + "\n"
		case ok && slices.Contains([]string{title, "v" + title}, firstWord(heading)), section.Len() > 0:
			section.WriteString(line)
		}
	}
	if section.Len() == 0 {
		return ""
	}
	return strings.TrimSpace(section.String()) + "\n"
}

// firstWord returns the first word of a heading, without brackets. For the
// heading "[0.1.0] - 2026-12-01", it returns the version "0.1.0".
func firstWord(heading string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(heading), " ")
	return strings.Trim(word, "[]():")
}
