package warc

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestVerifyPackage damages each part of a WACZ file. All but the first case
// are valid zip files.
func TestVerifyPackage(t *testing.T) {
	a, err := Open(sample(t, testOptions()))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var intact bytes.Buffer
	if err := a.Pack(&intact, Package{Created: day}); err != nil {
		t.Fatal(err)
	}
	changed := func(name string, change func([]byte) []byte) func(*testing.T) []byte {
		return func(t *testing.T) []byte { return repack(t, intact.Bytes(), name, change) }
	}
	flipped := func(b []byte) []byte { b[len(b)/2] ^= 1; return b }
	removed := func([]byte) []byte { return nil }
	const archive = "archive/"
	for name, test := range map[string]struct {
		file func(*testing.T) []byte
		want string
	}{
		"intact": {changed("", nil), ""},
		"changed byte of the zip file": {func(*testing.T) []byte { return flipped(bytes.Clone(intact.Bytes())) },
			"checksum error"},
		"no zip file": {func(*testing.T) []byte { return []byte("WARC/1.1\r\n") }, "not a WACZ file"},
		"truncated zip file": {func(*testing.T) []byte { return intact.Bytes()[:intact.Len()-9] },
			"not a WACZ file"},
		"changed WARC file": {changed(archive, flipped), "the digest does not match"},
		"shorter WARC file": {changed(archive, func(b []byte) []byte { return b[:len(b)-1] }),
			"the size differs from"},
		"longer WARC file": {changed(archive, func(b []byte) []byte { return append(b, 0) }),
			"the size differs from"},
		"missing WARC file": {changed(archive, removed), "missing part"},
		"changed index":     {changed("indexes/", flipped), "the digest does not match"},
		"missing pages":     {changed("pages/", removed), "missing part"},
		"changed datapackage.json": {changed("datapackage.json",
			func(b []byte) []byte {
				return bytes.Replace(b, []byte("wacz_version"), []byte("WACZ_version"),
					1)
			}), "datapackage.json does not match its digest"},
		"invalid datapackage.json": {changed("datapackage.json", func([]byte) []byte { return []byte("{") }),
			"datapackage.json"},
		"missing datapackage.json": {changed("datapackage.json", removed), "datapackage.json"},
		"invalid datapackage-digest.json": {changed("datapackage-digest.json", func([]byte) []byte { return []byte("[]") }),
			"cannot unmarshal"},
		"missing datapackage-digest.json": {changed("datapackage-digest.json", removed), ""},
		"unlisted part": {func(t *testing.T) []byte { return enlarge(t, intact.Bytes(), "more") },
			`note: bad-part: part "more" is not listed`},
		"duplicate part": {func(t *testing.T) []byte {
			return enlarge(t, intact.Bytes(),
				"pages/pages.jsonl")
		}, `note: bad-part: part "pages/pages.jsonl" is not listed`},
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
					t.Errorf("unexpected finding %v", f)
				}
				got = append(got, f.String())
			}
			text := strings.Join(got, "\n")
			if (test.want == "") != (text == "") || !strings.Contains(text, test.want) {
				t.Errorf("got findings %s\nwant %q", text, test.want)
			}
		})
	}
}

// TestVerifyOldPackage verifies a WACZ file with the datapackage.json of an old
// version of py-wacz, which has the digests in the object stats.
func TestVerifyOldPackage(t *testing.T) {
	text := members(res(1, ""))
	sum := sha256.Sum256(text)
	hash := hex.EncodeToString(sum[:])
	for name, tc := range map[string]struct{ entry, want string }{
		"hash and size in stats": {
			`"stats":{"hash":"` + hash + `","bytes":` + strconv.Itoa(len(text)) + `},"hashing":"sha256"`, ""},
		"hash without size":     {`"stats":{"hash":"sha256:` + hash + `"}`, ""},
		"hash without label":    {`"hash":"` + hash + `"`, ""},
		"wrong hash in stats":   {`"stats":{"hash":"` + hash[1:] + `0"}`, "the digest does not match"},
		"wrong size in stats":   {`"stats":{"hash":"` + hash + `","bytes":1}`, "the size differs from"},
		"unknown algorithm":     {`"stats":{"hash":"00"},"hashing":"md5"`, ""},
		"neither hash nor size": {`"stats":{}`, ""},
	} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for part, content := range map[string][]byte{
			"archive/a.warc.gz": text,
			"datapackage.json":  []byte(`{"resources":[{"path":"archive/a.warc.gz",` + tc.entry + `}]}`),
		} {
			w, err := z.CreateHeader(&zip.FileHeader{Name: part, Method: zip.Store})
			if err == nil {
				_, err = w.Write(content)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(t.TempDir(), "x.wacz")
		if err := errors.Join(z.Close(), os.WriteFile(path, b.Bytes(), 0o666)); err != nil {
			t.Fatal(err)
		}
		var got string
		for f, err := range Verify(path) {
			if got += f.Text; err != nil {
				t.Error(err)
			}
		}
		if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: got findings %q, want %q", name, got, tc.want)
		}
	}
}

// TestVerifyPackageIndex verifies WACZ files with invalid index lines. The
// digests of the indexes are correct.
func TestVerifyPackageIndex(t *testing.T) {
	record := res(1, "")
	line := func(file string, offset, length int) string {
		return Line{Key: "a", URL: "file:///1", File: file, Offset: int64(offset), Length: int64(length)}.String() + "\n"
	}
	valid := "!meta 0 {}\n" + line("a.warc", 0, len(record)) + line("archive/a.warc", len(record)-1, 1)
	const part = "indexes/index.cdx"
	for name, tc := range map[string]struct{ part, index, want string }{
		"valid lines":         {part, valid, ""},
		"compressed":          {part + ".gz", gzipped(valid), ""},
		"list of blocks":      {"indexes/index.idx", "no CDXJ", ""},
		"garbage":             {part, valid + "a\x1b\n", `"a\x1b" is not a CDXJ index line`},
		"compressed garbage":  {part + ".gz", gzipped("zzz"), `"zzz" is not a CDXJ index line`},
		"not compressed":      {part + ".gz", valid, "gzip: invalid header"},
		"truncated":           {part + ".gz", gzipped(valid)[:40], "unexpected EOF"},
		"negative offset":     {part, line("a.warc", -1, 1), `invalid length or offset "-1"`},
		"missing file":        {part, line("b.warc", 0, 1), `refers to the missing file "b.warc"`},
		"no file":             {part, line("", 0, 1), `refers to the missing file ""`},
		"offset after file":   {part, line("a.warc", len(record), 0), `bytes at offset`},
		"length after file":   {part, line("a.warc", 1, len(record)), `bytes at offset 1 of "a.warc"`},
		"large numbers":       {part, line("a.warc", 1<<62-1, 1<<62-1), `bytes at offset`},
		"many lines":          {part, strings.Repeat("zzz\n", 200), "more than 100 lines are invalid"},
		"too large":           {part + ".gz", gzipped(strings.Repeat("!\n", 1<<20)), "expand to more than"},
		"line without an end": {part, strings.TrimSuffix(valid, "\n"), ""},
	} {
		path := filepath.Join(t.TempDir(), "x.wacz")
		file := zipOf(t, map[string]string{"archive/a.warc": record, tc.part: tc.index,
			"datapackage.json": `{"resources":[{"path":"archive/a.warc"},{"path":"` + tc.part + `"}]}`})
		if err := os.WriteFile(path, file, 0o666); err != nil {
			t.Fatal(err)
		}
		var got []string
		for f, err := range Verify(path) {
			if err != nil || f.Problem != BadPart || f.Note {
				t.Errorf("%s: got finding %v, %v", name, f, err)
			}
			got = append(got, f.Text)
		}
		text := strings.Join(got, "\n")
		if (text == "") != (tc.want == "") || !strings.Contains(text, tc.want) || len(got) > maxIndexFindings+1 {
			t.Errorf("%s: got findings %s, want %q", name, text, tc.want)
		}
	}
}

// repack copies a zip file and applies change to the part whose name starts
// with name. A nil result removes the part.
func repack(t *testing.T, intact []byte, name string, change func([]byte) []byte) []byte {
	in, err := zip.NewReader(bytes.NewReader(intact), int64(len(intact)))
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

// enlarge copies a zip file and adds a part.
func enlarge(t *testing.T, intact []byte, name string) []byte {
	in, err := zip.NewReader(bytes.NewReader(intact), int64(len(intact)))
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

// FuzzVerifyPackage verifies that an arbitrary file causes findings but no
// error.
func FuzzVerifyPackage(f *testing.F) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{"archive/a.warc": "WARC/1.1\r\n\r\n",
		"datapackage.json": `{"resources":[{"path":"archive/a.warc","hash":"sha256:00","bytes":12}]}`, "datapackage-digest.json": "{}"} {
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
