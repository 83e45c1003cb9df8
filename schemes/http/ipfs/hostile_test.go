package ipfs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/schemetest"
)

// TestGateways reads a file of two blocks from gateways that send other blocks, or
// the blocks in another order.
func TestGateways(t *testing.T) {
	b := &blocks{}
	one, two := b.raw("hello "), b.raw("world")
	root := b.file(one, two, one)
	other := b.raw("other")
	const text = "hello worldhello "
	sum := cid{rawCodec, 0x11, strings.Repeat("x", 20)} // sha1
	large := binary.AppendUvarint(nil, 2<<30)
	html := status(200, "text/html", "<p>Not here")
	for _, test := range []struct {
		name     string
		car, raw func(w http.ResponseWriter, r *http.Request, c cid)
		want     string
		requests int // 0: any number
	}{
		{"complete", send(b.car(root, one, two, one)), nil, text, 1},
		{"without duplicates", send(b.car(root, one, two)), nil, text, 2},
		{"reverse order", send(b.car(two, one, root)), nil, text, 0},
		{"leaves only", send(b.car(one, two)), nil, text, 0},
		{"other block first", send(b.car(other, root, one, two, one)), nil, text, 5},
		{"further blocks", send(b.car(root, one, two, one, other, other)), nil, text, 1},
		{"identity blocks", send(b.car(root), section([]byte{1, rawCodec, 0, 1, 'a'}, []byte("a")), b.car(one, two, one)[len(carHeader):]), nil, text, 1},
		{"no blocks", send([]byte(carHeader)), nil, text, 5},
		{"no CAR files", status(501, "text/plain", "no"), nil, text, 5},
		{"CAR files are a bad request", status(400, "text/plain", "no"), nil, text, 5},
		{"media type with parameters", func(w http.ResponseWriter, r *http.Request, c cid) {
			w.Header().Set("Content-Type", "Application/vnd.ipld.car; version=1; order=dfs")
			w.Write(b.car(root, one, two, one))
		}, nil, text, 1},
		{"version 0 in the CAR file", send([]byte(carHeader), section(append([]byte{sha256Hash, 32}, root.digest...), b.all[root]), b.car(one, two, one)[len(carHeader):]), nil, text, 1},

		{"no such object", status(404, "text/plain", "no"), nil, "not-found", 1},
		{"unavailable", status(503, "text/plain", "no"), nil, "server-temp", 1},
		{"legal reasons", status(451, "text/plain", "no"), nil, "server-perm", 1},
		{"redirect", status(302, "text/plain", "http://127.0.0.1:1/"), nil, "server-perm", 1},
		{"not modified", status(304, "text/plain", ""), nil, "protocol", 1},
		{"redirect of a block", nil, status(301, "text/plain", "http://127.0.0.1:1/"), "server-perm", 2},
		{"part of a file", status(206, carMedia, carHeader), nil, "protocol", 1},
		{"page instead of a CAR file", html, nil, "protocol", 1},
		{"page instead of a block", nil, html, "protocol", 2},
		{"wrong block", nil, send([]byte("world!")), "integrity", 2},
		{"empty block", nil, send(), "integrity", 2},
		{"wrong block in the CAR file", send([]byte(carHeader), section(binaryOf(root), []byte("x"))), nil, "integrity", 1},
		{"one bit", send([]byte(carHeader), section(binaryOf(root), append([]byte{b.all[root][0] ^ 1}, b.all[root][1:]...))), nil, "integrity", 1},
		{"wrong leaf", send(b.car(root), section(binaryOf(one), []byte("hellO "))), nil, "integrity", 1},
		{"wrong leaf of the right size on its own", send(b.car(root)), send([]byte("hellO ")), "integrity", 2},
		{"missing leaf", send(b.car(root, one)), status(404, "text/plain", "no"), "truncated", 2},
		{"missing root", send(b.car(two)), status(410, "text/plain", "no"), "not-found", 2},
		{"2 GiB", send([]byte(carHeader), large), nil, "too-large", 1},
		{"2 GiB header", send(large), nil, "too-large", 1},
		{"endless length", send([]byte(carHeader), bytes.Repeat([]byte{0x80}, 100)), nil, "too-large", 1},
		{"block above the limit", send([]byte(carHeader), section(binaryOf(root), make([]byte, maxBlock+1))), nil, "too-large", 1},
		{"block above the limit on its own", nil, func(w http.ResponseWriter, _ *http.Request, _ cid) {
			w.Header().Set("Content-Length", fmt.Sprint(int64(2<<30)))
			w.Write([]byte("x"))
		}, "too-large", 2},
		{"endless block", nil, func(w http.ResponseWriter, _ *http.Request, _ cid) {
			for range 3 << 10 {
				if _, err := w.Write(make([]byte, 1<<10)); err != nil {
					return
				}
			}
		}, "too-large", 2},
		{"endless identity blocks", func(w http.ResponseWriter, _ *http.Request, _ cid) {
			w.Write([]byte(carHeader))
			part := bytes.Repeat(section([]byte{1, rawCodec, 0, 1, 'a'}, []byte("a")), 1000)
			for {
				if _, err := w.Write(part); err != nil {
					return
				}
			}
		}, nil, "protocol", 1},
		{"endless other blocks", func(w http.ResponseWriter, _ *http.Request, _ cid) {
			w.Write([]byte(carHeader))
			for {
				if _, err := w.Write(section(binaryOf(other), b.all[other])); err != nil {
					return
				}
			}
		}, nil, text, 5},
		{"empty CAR file", send(), nil, "truncated", 1},
		{"cut in the header", send([]byte(carHeader)[:5]), nil, "truncated", 1},
		{"cut in a length", send([]byte(carHeader), []byte{0x80}), nil, "truncated", 1},
		{"cut in a block", send(b.car(root)[:60]), nil, "truncated", 1},
		{"cut in a leaf", send(b.car(root, one)[:len(b.car(root, one))-3]), nil, "truncated", 1},
		{"connection cut in a leaf", func(w http.ResponseWriter, _ *http.Request, _ cid) {
			w.Header().Set("Content-Length", "10000")
			w.Write(b.car(root, one))
		}, nil, "truncated", 1},
		{"version 2", send([]byte("\x0a\xa1gversion\x02"), b.car(root, one, two, one)), nil, "protocol", 1},
		{"header that is no map", send([]byte("\x0a\x41gversion\x01")), nil, "protocol", 1},
		{"header of no bytes", send([]byte{0}), nil, "protocol", 1},
		{"section of no bytes", send([]byte(carHeader), []byte{0}), nil, "protocol", 1},
		{"invalid identifier", send([]byte(carHeader), section([]byte{2, rawCodec, sha256Hash, 0}, nil)), nil, "protocol", 1},
		{"weak hash", send([]byte(carHeader), section(binaryOf(sum), []byte("x"))), nil, "unsupported", 1},
		{"truncated digest", send([]byte(carHeader), section(binaryOf(cid{rawCodec, sha256Hash, root.digest[:4]}), []byte("x"))), nil, "unsupported", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFake(t)
			s.blocks, s.onCAR, s.onRaw = *b, test.car, test.raw
			c := schemetest.NewClient(t, Schemes(Options{Gateway: s.URL}))
			_, text, err := schemetest.Read(t, c, url(root, ""))
			got := text
			if err != nil {
				got = fetch.FaultOf(err).String()
				if strings.ContainsAny(err.Error(), "\r\n\x1b\x00") {
					t.Errorf("raw bytes in %q", err)
				}
			}
			if n := int(s.requests.Load()); got != test.want || test.requests != 0 && n != test.requests {
				t.Errorf("%q after %d requests, want %q after %d (%v)", got, n, test.want, test.requests, err)
			}
			if err != nil && !strings.HasPrefix("hello worldhello ", text) {
				t.Errorf("bytes that were not verified: %q", text)
			}
		})
	}
}

// TestObjects reads objects that are valid blocks, but unusual or hostile.
func TestObjects(t *testing.T) {
	b := &blocks{}
	leaf := b.raw("abc")
	small := b.file(leaf)
	inline := cid{rawCodec, identityHash, "inline"}
	empty := b.node(nil, kind(directoryType))
	chain, deepDir := small, b.shard(linkTo("00x", leaf, 3))
	for range maxDepth + 1 {
		chain = b.file(chain)
		deepDir = b.shard(linkTo("00", deepDir, 3))
	}
	barren := b.shard()
	for range 3 { // 256^3 shards without entries, in three blocks
		var links [][]byte
		for i := range 256 {
			links = append(links, linkTo(fmt.Sprintf("%02X", i), barren, 1))
		}
		barren = b.shard(links...)
	}
	wide := make([]byte, maxBlock)
	inLevels := b.file(leaf)
	for i := range 7 { // each node is as large as a block may be
		inner := b.all[inLevels]
		size := uint64(3)
		inLevels = b.node(linkTo(strings.Repeat("n", maxBlock-1000), inLevels, uint64(len(inner))), kind(fileType), pb(3, size), pb(4, size), pb(9, uint64(i)))
	}
	twice := b.add(dagPBCodec, join(pb(1, kind(fileType)), pb(1, kind(fileType))))
	for _, test := range []struct {
		name string
		root cid
		path string
		want string
	}{
		{"raw block", leaf, "", "document of 3 bytes"},
		{"raw block with a slash", leaf, "/", "document of 3 bytes"},
		{"below a raw block", leaf, "/x", "not-found"},
		{"identity", inline, "", "document of 6 bytes"},
		{"identity in a file", b.node(linkTo("", inline, 6), kind(fileType), pb(3, uint64(6)), pb(4, uint64(6))), "", "document of 6 bytes"},
		{"identity in a directory", b.dir("x", inline), "/x", "document of 6 bytes"},
		{"bytes in the root", b.node(linkTo("", leaf, 3), kind(fileType), pb(2, "123"), pb(3, uint64(6)), pb(4, uint64(3))), "", "document of 6 bytes"},
		{"type raw", b.node(nil, kind(rawType), pb(2, "123"), pb(3, uint64(3))), "", "document of 3 bytes"},
		{"no size", b.node(nil, kind(fileType), pb(2, "123")), "", "document of 3 bytes"},
		{"packed sizes", b.node(join(linkTo("", leaf, 3), linkTo("", leaf, 3)), kind(fileType), pb(3, uint64(6)), pb(4, "\x03\x03")), "", "document of 6 bytes"},
		{"empty part", b.node(join(linkTo("", b.raw(""), 0), linkTo("", leaf, 3)), kind(fileType), pb(4, uint64(0)), pb(4, uint64(3))), "", "document of 3 bytes"},
		{"empty directory", empty, "/", "menu of 0"},
		{"directory in a directory", b.dir("sub", empty), "/sub/", "menu of 0"},
		{"the first of two equal names", b.node(join(linkTo("x", leaf, 3), linkTo("x", inline, 6)), kind(directoryType)), "/x", "document of 3 bytes"},
		{"shard that is too deep for its name", deepDir, "/x", "not-found"},

		{"announced size too large", b.node(linkTo("", leaf, 3), kind(fileType), pb(3, uint64(7)), pb(4, uint64(3))), "", "protocol"},
		{"part size too large", b.node(linkTo("", leaf, 3), kind(fileType), pb(3, uint64(7)), pb(4, uint64(7))), "", "integrity"},
		{"part size too small", b.node(linkTo("", small, 3), kind(fileType), pb(4, uint64(2))), "", "integrity"},
		{"more sizes than parts", b.node(linkTo("", leaf, 3), kind(fileType), pb(4, uint64(3)), pb(4, uint64(3))), "", "protocol"},
		{"fewer sizes than parts", b.node(linkTo("", leaf, 3), kind(fileType)), "", "protocol"},
		{"sizes that overflow", b.node(join(linkTo("", leaf, 3), linkTo("", leaf, 3)), kind(fileType), pb(4, uint64(1<<63)), pb(4, uint64(1<<63))), "", "protocol"},
		{"size above the limit", b.node(linkTo("", leaf, 3), kind(fileType), pb(4, uint64(1<<63))), "", "protocol"},
		{"truncated packed sizes", b.node(linkTo("", leaf, 3), kind(fileType), pb(4, "\x80")), "", "protocol"},
		{"directory in a file", b.node(linkTo("", empty, 3), kind(fileType), pb(4, uint64(3))), "", "integrity"},
		{"chain of blocks", chain, "", "too-large"},
		{"many large levels", inLevels, "", "too-large"},
		{"no entry", b.dir("a", leaf), "/b", "not-found"},
		{"symbolic link", b.dir("a", b.node(nil, kind(symlinkType), pb(2, "../\x1b[2J"))), "/a", "unsupported"},
		{"metadata", b.node(nil, kind(metadataType)), "", "unsupported"},
		{"unknown type", b.node(nil, kind(6)), "", "protocol"},
		{"no type", b.node(nil, pb(2, "x")), "", "protocol"},
		{"two types", b.node(nil, kind(1), kind(2)), "", "protocol"},
		{"two fields with data", twice, "", "protocol"},
		{"no UnixFS", b.add(dagPBCodec, linkTo("a", leaf, 3)), "", "unsupported"},
		{"empty dag-pb block", b.add(dagPBCodec, nil), "", "unsupported"},
		{"not dag-pb", b.add(dagPBCodec, []byte("hello")), "", "protocol"},
		{"group in a protocol buffer", b.add(dagPBCodec, []byte{1<<3 | 3}), "", "protocol"},
		{"length behind the end", b.add(dagPBCodec, []byte{1<<3 | 2, 100, 1}), "", "protocol"},
		{"endless varint", b.add(dagPBCodec, bytes.Repeat([]byte{0xff}, 20)), "", "protocol"},
		{"zeros", b.add(dagPBCodec, wide), "", "protocol"},
		{"link without an identifier", b.node(pb(2, pb(2, "a")), kind(directoryType)), "/a", "protocol"},
		{"link with an invalid identifier", b.node(pb(2, join(pb(1, "\x01\x55"), pb(2, "a"))), kind(directoryType)), "/a", "protocol"},
		{"other codec", cid{0x71, sha256Hash, leaf.digest}, "", "unsupported"},
		{"link to another codec", b.dir("a", cid{0x71, sha256Hash, leaf.digest}), "/a", "unsupported"},
		{"link to another hash function", b.dir("a", cid{rawCodec, 0x11, leaf.digest[:20]}), "/a", "unsupported"},
		{"link to a truncated digest", b.dir("a", cid{rawCodec, sha256Hash, leaf.digest[:20]}), "/a", "unsupported"},
		{"deep shards", deepDir, "/", "too-large"},
		{"shards without entries", barren, "/", "too-large"},
		{"fanout that is no power of two", b.node(nil, kind(shardType), pb(5, uint64(murmur3)), pb(6, uint64(255))), "/", "protocol"},
		{"fanout of zero", b.node(nil, kind(shardType), pb(5, uint64(murmur3))), "/a", "protocol"},
		{"huge fanout", b.node(nil, kind(shardType), pb(5, uint64(murmur3)), pb(6, uint64(1<<40))), "/a", "protocol"},
		{"other hash function of names", b.node(nil, kind(shardType), pb(5, uint64(0x12)), pb(6, uint64(256))), "/a", "unsupported"},
		{"short name in a shard", b.shard(linkTo("0", leaf, 3)), "/", "protocol"},
		{"shard that is a file", b.shard(linkTo("00", small, 3)), "/", "protocol"},
		{"raw shard", b.shard(linkTo("00", leaf, 3)), "/", "protocol"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFake(t)
			s.blocks = *b
			c := schemetest.NewClient(t, Schemes(Options{Gateway: s.URL}))
			resp, err := c.Get(t.Context(), url(test.root, test.path))
			if err != nil && strings.ContainsAny(err.Error(), "\r\n\x1b\x00") {
				t.Errorf("raw bytes in %q", err)
			}
			if got := schemetest.Summary(resp, err); got != test.want {
				t.Errorf("%s, want %s (%v)", got, test.want, err)
			}
		})
	}
}

// TestEntries lists a directory whose names and objects are unusual.
func TestEntries(t *testing.T) {
	s := newFake(t)
	b := &s.blocks
	leaf := b.raw("abc")
	timed := b.node(nil, kind(fileType), pb(2, "x"), pb(8, pb(1, uint64(1_000_000_000))))
	gone := b.file(leaf, leaf)
	root := b.node(join(
		linkTo("raw", leaf, 3), linkTo("file", b.file(leaf), 99), linkTo("time.txt", timed, 9), linkTo("dir", b.node(nil, kind(directoryType)), 4),
		linkTo("", leaf, 3), linkTo(".", leaf, 3), linkTo("..", leaf, 3), linkTo("a/b", leaf, 3), linkTo("nul\x00", leaf, 3), linkTo("a b\xff\n", leaf, 3),
		linkTo("link", b.node(nil, kind(symlinkType), pb(2, "to\n")), 4), linkTo("gone", gone, 6), linkTo("bad", b.add(dagPBCodec, []byte("x")), 1),
		linkTo("cbor", cid{0x71, sha256Hash, leaf.digest}, 3), linkTo("sha1", cid{rawCodec, 0x11, leaf.digest[:20]}, 3), linkTo("size", leaf, 1<<60),
		linkTo(strings.Repeat("n", 300_000), leaf, 3), linkTo("inline", cid{rawCodec, identityHash, "i"}, 1),
	), kind(directoryType))
	delete(b.all, gone)
	c := schemetest.NewClient(t, Schemes(Options{Gateway: s.URL}))
	all, err := schemetest.List(t, c, url(root, "/"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range all {
		delete(e.Extra, "cid")
		e.Name = e.Name[:min(len(e.Name), 20)]
		got = append(got, schemetest.DescribeEntry(e, url(root, "")))
	}
	want := []string{
		`document "raw" /raw 3`, `document "file" /file 3`, `document "time.txt" /time.txt text/plain 1 20010909014640`,
		`menu "dir" /dir/ application/x-ndjson; profile=fetch-entries`, `info ""`, `info "."`, `info ".."`, `info "a/b"`, `info "nul\x00"`,
		"document \"a b\ufffd\\n\" /a%20b%FF%0A 3", `info "link" target="to\n"`, `unknown "gone" /gone`, `unknown "bad" /bad`, `info "cbor"`, `info "sha1"`,
		`document "size" /size`, `info "nnnnnnnnnnnnnnnnnnnn"`, `document "inline" /inline 1`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestRequestLines checks what a gateway receives.
func TestRequestLines(t *testing.T) {
	s := newFake(t)
	var lines []string
	header := http.Header{}
	s.onCAR = func(w http.ResponseWriter, r *http.Request, c cid) {
		lines, header = append(lines, r.Method+" "+r.RequestURI), r.Header
		w.WriteHeader(http.StatusNotFound)
	}
	id := s.raw("x")
	for _, test := range []struct {
		name, gateway, path string
		req                 fetch.Request
		want                string
	}{
		{"file", "", "/a%20b/%3f", fetch.Request{}, "/ipfs/CID/a%20b/%3F?format=car&dag-scope=entity"},
		{"line end", "", "/%0D%0AX:%20y", fetch.Request{}, "/ipfs/CID/%0D%0AX%3A%20y?format=car&dag-scope=entity"},
		{"path of the gateway", "/sub/", "/a", fetch.Request{}, "/sub/ipfs/CID/a?format=car&dag-scope=entity"},
		{"metadata", "", "", fetch.Request{Op: fetch.Stat}, "/ipfs/CID?format=car&dag-scope=block"},
		{"range", "", "", fetch.Request{Range: fetch.Range{First: 3, End: 10}}, "/ipfs/CID?format=car&dag-scope=entity&entity-bytes=3:9"},
		{"rest", "", "", fetch.Request{Range: fetch.Range{First: 3}}, "/ipfs/CID?format=car&dag-scope=entity&entity-bytes=3:*"},
		{"end", "", "", fetch.Request{Range: fetch.Range{First: -3, End: 10}}, "/ipfs/CID?format=car&dag-scope=entity&entity-bytes=-3:*"},
	} {
		c := schemetest.NewClient(t, Schemes(Options{Gateway: s.URL + test.gateway}))
		req := schemetest.NewRequest(t, url(id, test.path))
		req.Op, req.Range = test.req.Op, test.req.Range
		req.Header = fetch.Header{{Name: "Range", Value: "bytes=0-0"}, {Name: "accept", Value: "text/html"}, {Name: "X-Mine", Value: "1"},
			{Name: "authorization", Value: "Bearer token"}, {Name: "Cookie", Value: "a=b"}, {Name: "X-Api-Key", Value: "key"}}
		req.Auth = &fetch.Credential{User: "alice", Password: "secret"}
		if _, _, err := schemetest.ReadRequest(t, c, req); fetch.FaultOf(err) != fetch.NotFound {
			t.Errorf("%s: %v", test.name, err)
		}
		want := "GET " + strings.Replace(test.want, "CID", id.String(), 1)
		if got := lines[len(lines)-1]; got != want {
			t.Errorf("%s: got %s, want %s", test.name, got, want)
		}
		if header.Get("Range") != "" || len(header["Accept"]) != 1 || !strings.HasPrefix(header.Get("Accept"), carMedia) || header.Get("X-Mine") != "1" ||
			header.Get("Authorization")+header.Get("Cookie")+header.Get("X-Api-Key") != "" {
			t.Errorf("%s: header %v", test.name, header)
		}
		schemetest.Plans(t, Schemes(Options{Gateway: "https://h" + test.gateway})[0], map[string]string{
			url(id, "/x"): "GET " + strings.TrimSuffix(test.gateway, "/") + "/ipfs/" + id.String() + "/x?format=car&dag-scope=entity",
		})
	}
}

// TestOptions checks the URLs of gateways.
func TestOptions(t *testing.T) {
	b := &blocks{}
	id := b.raw("abc")
	for _, test := range []struct{ name, gateway, want string }{
		{"none", "", "usage"},
		{"no URL", "x", "usage"},
		{"other scheme", "ftp://127.0.0.1/", "usage"},
		{"no host", "http:///ipfs", "usage"},
		{"login", "http://alice:secret@127.0.0.1/", "usage"},
		{"query", "http://127.0.0.1/?a=b", "usage"},
		{"fragment", "http://127.0.0.1/#a", "usage"},
		{"dots", "http://127.0.0.1/a/../b", "usage"},
		{"port 0", "http://127.0.0.1:0/", "policy-port"},
		{"metadata service", "http://169.254.169.254/", "policy-address"},
		{"number", "http://2130706433/", "policy-address"},
	} {
		c := schemetest.NewClient(t, Schemes(Options{Gateway: test.gateway}))
		if got := schemetest.Summary(c.Get(t.Context(), url(id, ""))); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
