package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// downloads is the address of the files of all releases.
const downloads = "https://github.com/anyurl/fetch/releases/download/v"

// summary describes the program in one line without a full stop.
const summary = "Retrieves what a URL names, over old and new protocols"

// manifestAll writes the manifests of package managers, with the digests of the
// archives: a formula of Homebrew, a nix expression, a PKGBUILD of Arch and a
// manifest of Scoop.
func (r *release) manifestAll() error {
	digests, err := r.archiveDigests()
	if err != nil {
		return err
	}
	for _, m := range []struct {
		name string
		text func(*release, map[platform][]byte) (string, error)
	}{
		{"fetch.rb", (*release).homebrew}, {"fetch.nix", (*release).nix}, {"PKGBUILD", (*release).arch}, {"fetch.json", (*release).scoop},
	} {
		text, err := m.text(r, digests)
		if err != nil {
			return err
		}
		if text == "" {
			continue // no archive for the systems of this package manager
		}
		if err := create(filepath.Join(r.out, m.name), func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
			return err
		}
	}
	return nil
}

// archiveDigests returns the digest of the archive for each platform.
func (r *release) archiveDigests() (map[platform][]byte, error) {
	digests := map[platform][]byte{}
	for _, p := range r.platforms {
		content, err := os.ReadFile(filepath.Join(r.out, r.archiveName(p)))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(content)
		digests[p] = sum[:]
	}
	return digests, nil
}

// archiveName returns the name of the archive for a platform.
func (r *release) archiveName(p platform) string {
	name := "fetch_" + r.version + "_" + p.String()
	if p.system == "windows" {
		return name + ".zip"
	}
	return name + ".tar.gz"
}

// archiveURL returns the address of the archive for a platform.
func (r *release) archiveURL(p platform) string {
	return downloads + r.version + "/" + r.archiveName(p)
}

// homebrew returns a formula of Homebrew, or "" without archives for its systems.
func (r *release) homebrew(digests map[platform][]byte) (string, error) {
	var systems strings.Builder
	for _, system := range []struct{ name, block string }{{"darwin", "on_macos"}, {"linux", "on_linux"}} {
		var processors strings.Builder
		for _, processor := range []struct{ name, block string }{{"arm64", "on_arm"}, {"amd64", "on_intel"}} {
			p := platform{system.name, processor.name}
			if sum, ok := digests[p]; ok {
				fmt.Fprintf(&processors, "    %s do\n      url %q\n      sha256 %q\n    end\n", processor.block, r.archiveURL(p), hex.EncodeToString(sum))
			}
		}
		if processors.Len() > 0 {
			fmt.Fprintf(&systems, "\n  %s do\n%s  end\n", system.block, &processors)
		}
	}
	if systems.Len() == 0 {
		return "", nil
	}
	return fmt.Sprintf(`class Fetch < Formula
  desc %q
  homepage %q
  version %q
  license "MIT"
%s
  def install
    bin.install "fetch"
    man1.install Dir["man/*.1*"]
    generate_completions_from_executable(bin/"fetch", "completion")
  end

  test do
    assert_equal "hello", shell_output("#{bin}/fetch data:,hello")
  end
end
`, summary, homepage, r.version, &systems), nil
}

// nix returns an expression of nix that unpacks the archives for Linux and macOS.
func (r *release) nix(digests map[platform][]byte) (string, error) {
	var sources strings.Builder
	for _, s := range []struct {
		name string
		p    platform
	}{
		{"x86_64-linux", platform{"linux", "amd64"}}, {"aarch64-linux", platform{"linux", "arm64"}}, {"x86_64-darwin", platform{"darwin", "amd64"}},
		{"aarch64-darwin", platform{"darwin", "arm64"}},
	} {
		if sum, ok := digests[s.p]; ok {
			fmt.Fprintf(&sources, "    %s = fetchurl {\n      url = %q;\n      hash = \"sha256-%s\";\n    };\n", s.name, r.archiveURL(s.p),
				base64.StdEncoding.EncodeToString(sum))
		}
	}
	if sources.Len() == 0 {
		return "", nil
	}
	return fmt.Sprintf(`{ stdenvNoCC, fetchurl, lib }:

let
  sources = {
%s  };
in
stdenvNoCC.mkDerivation {
  pname = "fetch";
  version = %q;
  src = sources.${stdenvNoCC.hostPlatform.system} or (throw "fetch: no archive for this system");
  dontConfigure = true;
  dontBuild = true;
  dontStrip = true;
  installPhase = ''
    runHook preInstall
    install -D -m 755 fetch $out/bin/fetch
    if [ -d man ]; then mkdir -p $out/share/man/man1 && cp man/* $out/share/man/man1/; fi
    runHook postInstall
  '';
  meta = {
    description = %q;
    homepage = %q;
    license = lib.licenses.mit;
    mainProgram = "fetch";
    platforms = builtins.attrNames sources;
  };
}
`, &sources, r.version, summary, homepage), nil
}

// arch returns a PKGBUILD of Arch Linux.
func (r *release) arch(digests map[platform][]byte) (string, error) {
	var names, sources strings.Builder
	for _, s := range []struct {
		name string
		p    platform
	}{{"x86_64", platform{"linux", "amd64"}}, {"aarch64", platform{"linux", "arm64"}}} {
		if sum, ok := digests[s.p]; ok {
			fmt.Fprintf(&names, " '%s'", s.name)
			fmt.Fprintf(&sources, "source_%s=('%s')\nsha256sums_%s=('%s')\n", s.name, r.archiveURL(s.p), s.name, hex.EncodeToString(sum))
		}
	}
	if names.Len() == 0 {
		return "", nil
	}
	return fmt.Sprintf(`pkgname=fetch-bin
pkgver=%s
pkgrel=1
pkgdesc='%s'
arch=(%s)
url='%s'
license=('MIT')
provides=('fetch')
conflicts=('fetch')
options=('!strip')
%s
package() {
    cd "$srcdir"/fetch_*_linux_*
    install -D -m 755 fetch "$pkgdir/usr/bin/fetch"
    install -D -m 644 LICENSE "$pkgdir/usr/share/licenses/$pkgname/LICENSE"
    if [ -d man ]; then
        install -d "$pkgdir/usr/share/man/man1"
        cp man/* "$pkgdir/usr/share/man/man1/"
    fi
}
`, strings.ReplaceAll(r.version, "-", "_"), summary, strings.TrimSpace(names.String()), homepage, &sources), nil
}

// scoop returns a manifest of Scoop for Windows.
func (r *release) scoop(digests map[platform][]byte) (string, error) {
	type download struct {
		URL    string `json:"url"`
		Hash   string `json:"hash"`
		Folder string `json:"extract_dir"`
	}
	architectures := map[string]download{}
	for name, p := range map[string]platform{"64bit": {"windows", "amd64"}, "arm64": {"windows", "arm64"}} {
		if sum, ok := digests[p]; ok {
			architectures[name] = download{r.archiveURL(p), hex.EncodeToString(sum), strings.TrimSuffix(r.archiveName(p), ".zip")}
		}
	}
	if len(architectures) == 0 {
		return "", nil
	}
	text, err := json.MarshalIndent(map[string]any{
		"version": r.version, "description": summary, "homepage": homepage, "license": "MIT", "architecture": architectures, "bin": "fetch.exe",
	}, "", "    ")
	return string(text) + "\n", err
}
