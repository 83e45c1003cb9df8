package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// writeSums writes the digests of all files to SHA256SUMS, in the format of
// "sha256sum -c".
func (r *release) writeSums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	return create(filepath.Join(r.out, "SHA256SUMS"), func(w io.Writer) error {
		for _, e := range entries {
			hash := sha256.New()
			err := copyMember(member{source: filepath.Join(r.out, e.Name())}, func(int64) (io.Writer, error) {
				return hash, nil
			})
			if err == nil {
				_, err = fmt.Fprintf(w, "%x  %s\n", hash.Sum(nil), e.Name())
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// describeAll writes an SBOM for each binary.
func (r *release) describeAll() error {
	for _, p := range r.platforms {
		name := filepath.Join(r.out, "fetch_"+r.version+"_"+p.String()+".cdx.json")
		if err := create(name, func(w io.Writer) error { return writeSBOM(w, r.binary(p)) }); err != nil {
			return err
		}
	}
	return nil
}
