package ipfs

import (
	"bytes"
	"encoding/hex"
	"io"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

func unhex(t testing.TB, text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func FuzzText(f *testing.F) {
	f.Add("QmdfTbBqBPQ7VNxZEYEj14VmRuZBkqFbiwReogJgS1zR1n")
	f.Add("bafybeihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku")
	f.Add("k51qzi5uqu5dlvj2baxnqndepeb86cbk3ng7n3i46uzyxzyqj2xjonzllnv0v8")
	f.Fuzz(func(t *testing.T, text string) {
		c, _, err := parseText(text)
		if err != nil {
			return
		}
		again, err := parseBinary(binaryOf(c))
		if err != nil || again != c {
			t.Errorf("%q: %v, %v, %v", text, c, again, err)
		}
	})
}

func FuzzLocate(f *testing.F) {
	f.Add("ipfs://bafkqabtimvwgy3yk/a%20b/")
	f.Fuzz(func(t *testing.T, text string) {
		u, err := fetch.ParseURL(text)
		if err != nil || u.Scheme() != "ipfs" {
			return
		}
		l, err := locate(u)
		if err != nil {
			return
		}
		target := l.carTarget(&fetch.Request{})
		if _, err := uri.Parse("http://h" + target); err != nil || strings.ContainsAny(target, " \r\n") || strings.Contains(target, "/../") || strings.Count(target, "?") != 1 {
			t.Errorf("%q: %q, %v", text, target, err)
		}
	})
}

func FuzzCAR(f *testing.F) {
	b := &blocks{}
	one := b.raw("abc")
	f.Add(b.car(one, b.file(one)))
	f.Add([]byte("\x0a\xa1gversion\x02"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := newCAR(bytes.NewReader(text), verifier{})
		for err == nil {
			var id cid
			var block []byte
			if id, block, err = c.next(); err == nil && !c.matches(id, block) {
				t.Errorf("wrong block %s", id)
			}
		}
		if err != io.EOF && fetch.FaultOf(err) == fetch.Internal {
			t.Errorf("%v has no class", err)
		}
	})
}

// FuzzNode reads a block as a file, as a directory and as a shard, whose links
// lead to the same block.
func FuzzNode(f *testing.F) {
	b := &blocks{}
	leaf := b.raw("abc")
	for _, c := range []cid{b.file(leaf, leaf), b.dir("name", leaf), b.shard(linkTo("00", leaf, 1), linkTo("01name", leaf, 1))} {
		f.Add(b.all[c])
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		self := cid{dagPBCodec, sha256Hash, strings.Repeat("x", 32)}
		e, err := newEntity(self, block)
		if err != nil {
			if fetch.FaultOf(err) == fetch.Internal {
				t.Errorf("%v has no class", err)
			}
			return
		}
		reads := 0
		get := func(c cid) ([]byte, error) {
			if reads++; reads > 1000 {
				return nil, io.ErrUnexpectedEOF
			}
			if c.codec == rawCodec {
				return []byte("abc"), nil
			}
			return block, nil
		}
		switch {
		case e.isFile():
			file := &fileReader{get: get, end: e.size}
			if file.push(e) != nil {
				return
			}
			if n, err := io.Copy(io.Discard, io.LimitReader(file, 1<<20)); err == nil && uint64(n) != min(e.size, 1<<20) {
				t.Errorf("%d bytes of %d", n, e.size)
			}
		case e.isDirectory():
			lookup(get, e, "name")
			dir := &dirReader{get: get}
			err := dir.push(e)
			for i := 0; err == nil && i < 1000; i++ {
				_, err = dir.next()
			}
		}
	})
}
