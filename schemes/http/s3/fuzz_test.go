package s3

import (
	"hash/maphash"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

func FuzzPage(f *testing.F) {
	f.Add([]byte(listHead + "<EncodingType>url</EncodingType><Contents><Key>a%20b</Key></Contents></ListBucketResult>"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := parsePage(text)
		if err != nil {
			return
		}
		l := &listing{where: locator{bucket: "bucket", key: "p/", list: true}, page: p, seen: map[uint64]bool{}, seed: maphash.MakeSeed()}
		for len(p.Contents)+len(p.Prefixes) > 0 {
			e, err := l.next()
			if err != nil {
				break
			}
			if e.URL.IsZero() {
				continue
			}
			where, err := locate(e.URL)
			if err != nil || where.key != e.Raw || !strings.HasPrefix(where.key, "p/") {
				t.Errorf("%q: %s: %v", e.Raw, e.URL, err)
			}
		}
	})
}

func FuzzLocate(f *testing.F) {
	f.Add("s3://bucket/a%20b?versionId=1")
	f.Fuzz(func(t *testing.T, text string) {
		u, err := fetch.ParseURL(text)
		if err != nil || u.Scheme() != "s3" {
			return
		}
		if l, err := locate(u); err == nil && strings.ContainsAny(l.bucket, "/@:?#\r\n ") {
			t.Errorf("%q: bucket %q", text, l.bucket)
		}
	})
}
