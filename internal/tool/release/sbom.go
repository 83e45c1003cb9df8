//go:build release

package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

// writeSBOM writes the SBOM of a Go binary in the JSON format of CycloneDX. It
// reads the modules from the build information of the binary.
func writeSBOM(w io.Writer, name string) error {
	info, err := buildinfo.ReadFile(name)
	if err != nil {
		return err
	}
	program, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return cyclonedx.NewBOMEncoder(w, cyclonedx.BOMFileFormatJSON).SetPretty(true).
		EncodeVersion(bom(info, program), cyclonedx.SpecVersion1_6)
}

// bom returns the SBOM of a program with the given build information. It has no
// serial number, because two SBOMs of the same binary must be equal.
func bom(info *debug.BuildInfo, program []byte) *cyclonedx.BOM {
	main := component(cyclonedx.ComponentTypeApplication, &info.Main)
	digest := sha256.Sum256(program)
	main.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(digest[:])}}
	properties := []cyclonedx.Property{}
	for _, s := range info.Settings {
		properties = append(properties, cyclonedx.Property{Name: "go:build:" + s.Key, Value: s.Value})
	}
	main.Properties = &properties

	standard := component(cyclonedx.ComponentTypeLibrary, &debug.Module{Path: "std", Version: info.GoVersion})
	components, references := []cyclonedx.Component{standard}, []string{standard.BOMRef}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := component(cyclonedx.ComponentTypeLibrary, m)
		components, references = append(components, c), append(references, c.BOMRef)
	}
	b := cyclonedx.NewBOM()
	b.Metadata = &cyclonedx.Metadata{Component: &main}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			b.Metadata.Timestamp = s.Value
		}
	}
	b.Components = &components
	b.Dependencies = &[]cyclonedx.Dependency{{Ref: main.BOMRef, Dependencies: &references}}
	return b
}

// component returns the CycloneDX component for a module. The hash of the
// component is the hash of the module in go.sum.
func component(kind cyclonedx.ComponentType, m *debug.Module) cyclonedx.Component {
	url := "pkg:golang/" + m.Path + "@" + strings.ReplaceAll(m.Version, "+", "%2B")
	c := cyclonedx.Component{BOMRef: url, Type: kind, Name: m.Path, Version: m.Version, PackageURL: url}
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) == sha256.Size {
		c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
	}
	return c
}
