package warc

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVerifyPackage damages a WACZ file in every way, in zip files that are whole
// but for the first.
func TestVerifyPackage(t *testing.T) {
	a, err := Open(sample(t, testOptions()))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var whole bytes.Buffer
	if err := a.Pack(&whole, Package{Created: day}); err != nil {
		t.Fatal(err)
	}
	changed := func(name string, change func([]byte) []byte) func(*testing.T) []byte {
		return func(t *testing.T) []byte { return repack(t, whole.Bytes(), name, change) }
	}
	turned := func(b []byte) []byte { b[len(b)/2] ^= 1; return b }
	none := func([]byte) []byte { return nil }
	const archive = "archive/"
	for name, test := range map[string]struct {
		file func(*testing.T) []byte
		want string
	}{
		"whole":                      {changed("", nil), ""},
		"a byte of the file":         {func(*testing.T) []byte { return turned(bytes.Clone(whole.Bytes())) }, "checksum error"},
		"no zip file":                {func(*testing.T) []byte { return []byte("WARC/1.1\r\n") }, "not a WACZ file"},
		"its end is cut off":         {func(*testing.T) []byte { return whole.Bytes()[:whole.Len()-9] }, "not a WACZ file"},
		"an archive is another":      {changed(archive, turned), "the digest does not match"},
		"an archive is shorter":      {changed(archive, func(b []byte) []byte { return b[:len(b)-1] }), "the size differs from"},
		"an archive is longer":       {changed(archive, func(b []byte) []byte { return append(b, 0) }), "the size differs from"},
		"an archive is missing":      {changed(archive, none), "missing part"},
		"the index is another":       {changed("indexes/", turned), "the digest does not match"},
		"the pages are missing":      {changed("pages/", none), "missing part"},
		"the list is another":        {changed("datapackage.json", func(b []byte) []byte { return bytes.Replace(b, []byte("wacz"), []byte("WACZ"), 1) }), "datapackage.json does not match its digest"},
		"the list is none":           {changed("datapackage.json", func([]byte) []byte { return []byte("{") }), "datapackage.json"},
		"the list is missing":        {changed("datapackage.json", none), "datapackage.json"},
		"the digest of it is none":   {changed("datapackage-digest.json", func([]byte) []byte { return []byte("[]") }), "cannot unmarshal"},
		"no digest of it, as 1.0 is": {changed("datapackage-digest.json", none), ""},
		"a part is in no list":       {func(t *testing.T) []byte { return enlarge(t, whole.Bytes(), "more") }, `note: bad-part: part "more" is not listed`},
		"a part is there twice":      {func(t *testing.T) []byte { return enlarge(t, whole.Bytes(), "pages/pages.jsonl") }, `note: bad-part: part "pages/pages.jsonl" is not listed`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.wacz")
			if err := os.WriteFile(path, test.file(t), 0o666); err != nil {
				t.Fatal(err)
			}
			var got []string
			for f, err := range Verify(path) {
				if err != nil {
					t.Fatal(err)
				}
				if f.Problem != BadPart || f.Note != strings.HasSuffix(f.Text, "is not listed in datapackage.json") {
					t.Errorf("found %v", f)
				}
				got = append(got, f.String())
			}
			text := strings.Join(got, "\n")
			if (test.want == "") != (text == "") || !strings.Contains(text, test.want) {
				t.Errorf("found %s\nwant %q", text, test.want)
			}
		})
	}
}

// repack copies a zip file, with the part whose name begins so changed, or left
// out where that is nil.
func repack(t *testing.T, whole []byte, name string, change func([]byte) []byte) []byte {
	in, err := zip.NewReader(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	out := zip.NewWriter(&b)
	for _, part := range in.File {
		r, err := part.Open()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if change != nil && strings.HasPrefix(part.Name, name) {
			if body = change(body); body == nil {
				continue
			}
		}
		w, err := out.CreateHeader(&zip.FileHeader{Name: part.Name, Method: part.Method})
		if err == nil {
			_, err = w.Write(body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// enlarge copies a zip file, with a part more.
func enlarge(t *testing.T, whole []byte, name string) []byte {
	in, err := zip.NewReader(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	out := zip.NewWriter(&b)
	for _, part := range in.File {
		if err := out.Copy(part); err != nil {
			t.Fatal(err)
		}
	}
	_, err = out.Create(name)
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// FuzzVerifyPackage: nothing that calls itself a WACZ file is more than findings.
func FuzzVerifyPackage(f *testing.F) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{"archive/a.warc": "WARC/1.1\r\n\r\n", "datapackage.json": `{"resources":[{"path":"archive/a.warc","hash":"sha256:00","bytes":12}]}`, "datapackage-digest.json": "{}"} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			f.Fatal(err)
		}
	}
	z.Close()
	f.Add(b.Bytes())
	path := filepath.Join(f.TempDir(), "x.wacz")
	f.Fuzz(func(t *testing.T, file []byte) {
		if err := os.WriteFile(path, file, 0o666); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range Verify(path) {
			if n++; err != nil || n > 10*len(file)+10 {
				t.Fatal(n, err)
			}
		}
	})
}
