// Command boxogateway is a trustless gateway of IPFS for the tests of package
// schemes/http/ipfs. It imports the files of a directory with the library boxo
// in several forms, and serves their blocks.
//
//	boxogateway ADDR DIR LIST
//
// LIST is a file to which the CID of each form is written, as "FORM CID" lines.
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ipfs/boxo/blockservice"
	"github.com/ipfs/boxo/blockstore"
	chunk "github.com/ipfs/boxo/chunker"
	"github.com/ipfs/boxo/exchange/offline"
	"github.com/ipfs/boxo/gateway"
	"github.com/ipfs/boxo/ipld/merkledag"
	"github.com/ipfs/boxo/ipld/unixfs"
	"github.com/ipfs/boxo/ipld/unixfs/importer/balanced"
	"github.com/ipfs/boxo/ipld/unixfs/importer/helpers"
	"github.com/ipfs/boxo/ipld/unixfs/importer/trickle"
	uio "github.com/ipfs/boxo/ipld/unixfs/io"
	"github.com/ipfs/go-cid"
	"github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"
	ipld "github.com/ipfs/go-ipld-format"
	mh "github.com/multiformats/go-multihash"
)

// A form is a way to store files as blocks.
type form struct {
	name    string
	cid     cid.Builder
	raw     bool // leaves are raw blocks
	trickle bool
	shard   bool // directories are sharded
}

var forms = []form{
	{name: "raw", cid: merkledag.V1CidPrefix(), raw: true},
	{name: "v0", cid: merkledag.V0CidPrefix()},
	{name: "trickle", cid: merkledag.V1CidPrefix(), trickle: true},
	{name: "shard", cid: merkledag.V1CidPrefix(), raw: true, shard: true},
	{name: "blake2b", cid: cid.V1Builder{Codec: cid.DagProtobuf, MhType: mh.BLAKE2B_MIN + 31}, raw: true},
	{name: "sha3", cid: cid.V1Builder{Codec: cid.DagProtobuf, MhType: mh.SHA3_256}, raw: true},
	{name: "sha512", cid: cid.V1Builder{Codec: cid.DagProtobuf, MhType: mh.SHA2_512}, raw: true},
}

type importer struct {
	form
	dag ipld.DAGService
}

// add imports a file, a directory or a symbolic link.
func (i importer) add(ctx context.Context, path string) (ipld.Node, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return i.addDir(ctx, path)
	case info.Mode()&os.ModeSymlink != 0:
		to, err := os.Readlink(path)
		if err != nil {
			return nil, err
		}
		data, err := unixfs.SymlinkData(to)
		if err != nil {
			return nil, err
		}
		n := merkledag.NodeWithData(data)
		n.SetCidBuilder(i.cid)
		return n, i.dag.Add(ctx, n)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p := helpers.DagBuilderParams{Maxlinks: 8, RawLeaves: i.raw, CidBuilder: i.cid, Dagserv: i.dag}
	db, err := p.New(chunk.NewSizeSplitter(bytes.NewReader(text), 10_000))
	if err != nil {
		return nil, err
	}
	if i.trickle {
		return trickle.Layout(db)
	}
	return balanced.Layout(db)
}

func (i importer) addDir(ctx context.Context, path string) (ipld.Node, error) {
	var dir uio.Directory
	var err error
	if i.shard {
		dir, err = uio.NewHAMTDirectory(i.dag, 0, uio.WithCidBuilder(i.cid))
	} else {
		dir, err = uio.NewBasicDirectory(i.dag, uio.WithCidBuilder(i.cid))
	}
	if err != nil {
		return nil, err
	}
	all, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		n, err := i.add(ctx, filepath.Join(path, e.Name()))
		if err != nil {
			return nil, err
		}
		if err := dir.AddChild(ctx, e.Name(), n); err != nil {
			return nil, err
		}
	}
	n, err := dir.GetNode()
	if err != nil {
		return nil, err
	}
	return n, i.dag.Add(ctx, n)
}

func run(addr, dir, list string) error {
	ctx := context.Background()
	bs := blockstore.NewBlockstore(dssync.MutexWrap(datastore.NewMapDatastore()))
	service := blockservice.New(bs, offline.Exchange(bs))
	dag := merkledag.NewDAGService(service)
	var names strings.Builder
	for _, f := range forms {
		n, err := importer{f, dag}.add(ctx, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		fmt.Fprintf(&names, "%s %s\n", f.name, n.Cid())
	}
	backend, err := gateway.NewBlocksBackend(service)
	if err != nil {
		return err
	}
	if err := os.WriteFile(list, []byte(names.String()), 0o666); err != nil {
		return err
	}
	handler := gateway.NewHandler(gateway.Config{NoDNSLink: true, RetrievalTimeout: 10 * time.Second}, backend)
	return http.ListenAndServe(addr, handler)
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: boxogateway ADDR DIR LIST")
	}
	log.Fatal(run(os.Args[1], os.Args[2], os.Args[3]))
}
