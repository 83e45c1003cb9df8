package smb

import (
	"errors"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/cloudsoda/go-smb2"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/uri"
)

// batchSize is the number of entries that are taken from the library at a time.
// The library has the entries of one more message in memory.
const batchSize = 100

// nameSurrogate is the bit in the tag of a reparse point that has another place,
// such as a symbolic link. Other reparse points are files in a special form
// ([MS-FSCC] section 2.1.2.1).
const nameSurrogate = 1 << 29

// isLink reports whether an entry of a directory is a symbolic link, or a
// directory at another place.
func isLink(info *smb2.FileStat) bool { return info.ReparsePointTag&nameSurrogate != 0 }

// A folder reads the entries of a directory.
type folder struct {
	session *session
	file    *smb2.File
	base    uri.URI
	batch   []os.FileInfo
}

// next returns the next entry. It returns io.EOF after the last one.
func (d *folder) next() (fetch.Entry, error) {
	if len(d.batch) == 0 {
		if err := d.read(); err != nil {
			return fetch.Entry{}, err
		}
	}
	info := d.batch[0].(*smb2.FileStat)
	d.batch = d.batch[1:]
	return entry(d.base, info), nil
}

// noSuchFile is the status of a directory without any entry.
const noSuchFile = 0xc000000f

func (d *folder) read() error {
	err := d.session.call(listing, "QUERY_DIRECTORY", "", func() (err error) {
		d.batch, err = d.file.Readdir(batchSize)
		var status *smb2.ResponseError
		if err == io.EOF || errors.As(err, &status) && status.Code == noSuchFile {
			d.batch, err = nil, nil
		}
		return err
	})
	if err != nil || len(d.batch) > 0 {
		return err
	}
	d.session.close(d.file) // if it fails, the listing is complete, and the session is broken
	return io.EOF
}

// entry returns the Entry of a file in the directory at base. A name that no URL
// can have becomes an entry of kind Info.
func entry(base uri.URI, info *smb2.FileStat) fetch.Entry {
	name := strings.ToValidUTF8(info.FileName, string(utf8.RuneError))
	e := fetch.Entry{Name: name, Kind: fetch.Info, Size: -1, Time: modified(info), Raw: name}
	if invalidName(info.FileName) != "" {
		return e
	}
	path := uri.Escape(info.FileName, uri.Path)
	switch {
	case isLink(info):
		e.Extra = map[string]string{"type": "link"}
		return e
	case info.IsDir():
		e.Kind, e.Media = fetch.Menu, entries.Media
		path += "/"
	default:
		e.Kind, e.Media = fetch.Document, media.ByName(info.FileName)
		if info.EndOfFile >= 0 {
			e.Size = info.EndOfFile
		}
	}
	return located(e, base, path)
}

// located adds the URL of a name in the directory at base to an entry.
func located(e fetch.Entry, base uri.URI, name string) fetch.Entry {
	parts := base.Parts() // without the password
	parts.Userinfo, _, _ = base.User()
	parts.HasUserinfo = parts.Userinfo != ""
	parts.Path, parts.Fragment, parts.HasFragment = strings.TrimSuffix(base.Path(), "/")+"/"+name, "", false
	var err error
	if e.URL, err = uri.Build(parts); err != nil {
		e.Kind = fetch.Info
	}
	return e
}

// shares returns the list of shares.
func shares(l *lease, req *fetch.Request, resp *fetch.Response) (*fetch.Response, error) {
	if req.Op == fetch.Stat {
		resp.Body = l.Body(nil, nil)
		return resp, nil
	}
	var all []smb2.ShareInfo
	err := l.Session.call(sharing, "IOCTL", "NetrShareEnum", func() (err error) {
		all, err = l.Session.smb.ListShares()
		return err
	})
	if err != nil {
		l.Session.Break() // the library may have left a file open
		return nil, err
	}
	next := func() (fetch.Entry, error) {
		if len(all) == 0 {
			return fetch.Entry{}, io.EOF
		}
		share := all[0]
		all = all[1:]
		return shareEntry(req.URL, share), nil
	}
	resp.Body = l.Body(entries.NewReader(next), nil)
	return resp, nil
}

// shareEntry returns the Entry of a share. Shares without files, and those for
// the administration of a server, have no URL.
func shareEntry(base uri.URI, share smb2.ShareInfo) fetch.Entry {
	name := strings.ToValidUTF8(share.Name, string(utf8.RuneError))
	e := fetch.Entry{Name: name, Kind: fetch.Info, Size: -1, Raw: name, Extra: map[string]string{}}
	if share.Comment != "" {
		e.Extra["comment"] = strings.ToValidUTF8(share.Comment, string(utf8.RuneError))
	}
	if share.Type() != smb2.ShareTypeDiskTree {
		e.Extra["type"] = share.Type().String()
		return e
	}
	if share.IsSpecial() || invalidName(share.Name) != "" {
		return e
	}
	e.Kind, e.Media = fetch.Menu, entries.Media
	return located(e, base, uri.Escape(share.Name, uri.Path)+"/")
}
