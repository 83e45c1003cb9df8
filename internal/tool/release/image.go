package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// certificates is the file with the CA certificates of the image. It comes from
// the package ca-certificates of the build machine.
const certificates = "/etc/ssl/certs/ca-certificates.crt"

// imageUser is the number of the user and of the group in the image.
const imageUser = 65532

// Media types of the OCI image format.
const (
	ociIndex    = "application/vnd.oci.image.index.v1+json"
	ociManifest = "application/vnd.oci.image.manifest.v1+json"
	ociConfig   = "application/vnd.oci.image.config.v1+json"
	ociLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// A descriptor refers to a blob of an image.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Platform    *imagePlatform    `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type imagePlatform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

// An image is an OCI image that is being written to a tar file.
type image struct {
	tar  *tar.Writer
	date time.Time
	done map[string]bool // written blobs
}

// imageAll writes an OCI image with the binaries for Linux as one file in the
// layout of an OCI archive. The image has the binary, CA certificates and a
// user, and no shell.
func (r *release) imageAll() error {
	var binaries []platform
	for _, p := range r.platforms {
		if p.system == "linux" {
			binaries = append(binaries, p)
		}
	}
	if len(binaries) == 0 {
		return nil
	}
	return create(filepath.Join(r.out, "fetch_"+r.version+"_oci.tar"), func(w io.Writer) error {
		i := &image{tar: tar.NewWriter(w), date: r.date, done: map[string]bool{}}
		var manifests []descriptor
		for _, p := range binaries {
			m, err := i.addPlatform(p, r.binary(p), r.version)
			if err != nil {
				return err
			}
			manifests = append(manifests, m)
		}
		if err := i.finish(manifests, r.version); err != nil {
			return err
		}
		return i.tar.Close()
	})
}

// addPlatform writes the layer, the configuration and the manifest for a
// platform.
func (i *image) addPlatform(p platform, binary, version string) (descriptor, error) {
	layer, diff, err := i.layer(binary)
	if err != nil {
		return descriptor{}, err
	}
	rootfs := descriptor{MediaType: ociLayer}
	if rootfs.Digest, rootfs.Size, err = i.blob(layer); err != nil {
		return descriptor{}, err
	}
	config := map[string]any{
		"created": i.date.Format(time.RFC3339), "architecture": p.processor, "os": "linux",
		"config": map[string]any{
			"User": fmt.Sprintf("%d:%d", imageUser, imageUser), "Entrypoint": []string{"/usr/bin/fetch"}, "WorkingDir": "/data",
			"Env":     []string{"PATH=/usr/bin", "HOME=/data", "SSL_CERT_FILE=" + certificates},
			"Volumes": map[string]any{"/data": map[string]any{}},
			"Labels": map[string]string{
				"org.opencontainers.image.title": "fetch", "org.opencontainers.image.version": version, "org.opencontainers.image.licenses": "MIT",
				"org.opencontainers.image.source": "https://github.com/anyurl/fetch",
			},
		},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{diff}},
		"history": []map[string]string{{"created": i.date.Format(time.RFC3339), "created_by": "internal/tool/release"}},
	}
	settings := descriptor{MediaType: ociConfig}
	if settings.Digest, settings.Size, err = i.json(config); err != nil {
		return descriptor{}, err
	}
	m := descriptor{MediaType: ociManifest, Platform: &imagePlatform{p.processor, "linux"}}
	m.Digest, m.Size, err = i.json(map[string]any{"schemaVersion": 2, "mediaType": ociManifest, "config": settings, "layers": []descriptor{rootfs}})
	return m, err
}

// layer returns the compressed root of the image, and the digest of the
// uncompressed tar file.
func (i *image) layer(binary string) (compressed []byte, diff string, err error) {
	program, err := os.ReadFile(binary)
	if err != nil {
		return nil, "", err
	}
	roots, err := os.ReadFile(certificates)
	if err != nil {
		return nil, "", fmt.Errorf("the image needs the package ca-certificates: %w", err)
	}
	hash := sha256.New()
	var out bytes.Buffer
	zw, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, "", err
	}
	tw := tar.NewWriter(io.MultiWriter(zw, hash))
	user := fmt.Sprintf("fetch:x:%d:%d::/data:/\n", imageUser, imageUser)
	for _, m := range []struct {
		name  string
		mode  int64
		owner int
		text  []byte // nil for a directory
	}{
		{"data/", 0o755, imageUser, nil}, {"etc/", 0o755, 0, nil}, {"etc/group", 0o644, 0, fmt.Appendf(nil, "fetch:x:%d:\n", imageUser)},
		{"etc/passwd", 0o644, 0, []byte(user)}, {"etc/ssl/", 0o755, 0, nil}, {"etc/ssl/certs/", 0o755, 0, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, 0, roots}, {"tmp/", 0o1777, 0, nil}, {"usr/", 0o755, 0, nil}, {"usr/bin/", 0o755, 0, nil},
		{"usr/bin/fetch", 0o755, 0, program},
	} {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: m.name, Size: int64(len(m.text)), Mode: m.mode, Uid: m.owner, Gid: m.owner, ModTime: i.date,
			Format: tar.FormatUSTAR}
		if m.text == nil {
			h.Typeflag = tar.TypeDir
		}
		if err := tw.WriteHeader(h); err != nil {
			return nil, "", err
		}
		if _, err := tw.Write(m.text); err != nil {
			return nil, "", err
		}
	}
	if err := tw.Close(); err != nil {
		return nil, "", err
	}
	err = zw.Close() // before out is read
	return out.Bytes(), "sha256:" + hex.EncodeToString(hash.Sum(nil)), err
}

// finish writes the index of the image and its layout file.
func (i *image) finish(manifests []descriptor, version string) error {
	index := map[string]any{"schemaVersion": 2, "mediaType": ociIndex, "manifests": manifests}
	top := descriptor{MediaType: ociIndex, Annotations: map[string]string{"org.opencontainers.image.ref.name": version}}
	var err error
	if top.Digest, top.Size, err = i.json(index); err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": ociIndex, "manifests": []descriptor{top}})
	if err != nil {
		return err
	}
	if err := i.file("index.json", text); err != nil {
		return err
	}
	return i.file("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`))
}

// json writes a value as a blob.
func (i *image) json(v any) (digest string, size int64, err error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", 0, err
	}
	return i.blob(text)
}

// blob writes a blob, unless the image has it already.
func (i *image) blob(content []byte) (digest string, size int64, err error) {
	sum := sha256.Sum256(content)
	name := hex.EncodeToString(sum[:])
	if !i.done[name] {
		i.done[name] = true
		err = i.file("blobs/sha256/"+name, content)
	}
	return "sha256:" + name, int64(len(content)), err
}

func (i *image) file(name string, content []byte) error {
	err := i.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(content)), Mode: 0o644, ModTime: i.date, Format: tar.FormatUSTAR})
	if err == nil {
		_, err = i.tar.Write(content)
	}
	return err
}
