package archive

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/internal/format/coding"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/sqlite"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// addRecords adds the records of all WARC files to the database, oldest file
// first, because a revisit record refers to an earlier record.
func (r *rebuild) addRecords(ctx context.Context) error {
	names, _, err := warcFiles(r.a.folder.root, "*.warc.gz*")
	if err != nil {
		return err
	}
	dates := map[string]time.Time{}
	for _, name := range names {
		if dates[name], err = r.firstDate(name); err != nil {
			return err
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(dates[a].Compare(dates[b]), cmp.Compare(a, b)) })
	for _, name := range names {
		if !warc.IsFileName(name) {
			continue
		}
		if err := r.addFile(ctx, name); err != nil {
			return err
		}
	}
	r.result.LostRecords, err = r.builder.DropMissingRecords(ctx)
	return err
}

// firstDate returns the date of the first record in a WARC file.
func (r *rebuild) firstDate(name string) (time.Time, error) {
	f, err := regularfile.OpenIn(r.a.folder.root, name)
	if err != nil {
		return time.Time{}, err
	}
	defer f.Close()
	h, err := warc.NewReader(f).Next()
	if err != nil {
		return time.Time{}, nil // addFile reports the damage
	}
	return h.Date(), nil
}

// A warcScan reads one WARC file. It holds the main record of a group until it
// has read the group.
type warcScan struct {
	r    *rebuild
	ctx  context.Context
	in   *warc.Reader
	file string // name of the finished file

	main    string // ID of the first record of the group
	missing int    // number of records of the group that have not been read yet
	object  *sqlite.Record
	via     string // URL of the page that links to the object
	batch   rowBatch[sqlite.Record]
}

// addFile adds the records of a WARC file. In an unfinished file, the next run
// removes an incomplete group at the end.
func (r *rebuild) addFile(ctx context.Context, name string) error {
	f, err := regularfile.OpenIn(r.a.folder.root, name)
	if err != nil {
		return err
	}
	defer f.Close()
	base, open := strings.CutSuffix(path.Base(name), warc.OpenSuffix)
	s := &warcScan{r: r, ctx: ctx, in: warc.NewReader(f), file: base}
	var end, groupStart int64
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := s.in.Next()
		if err == io.EOF {
			break
		}
		starts := err == nil && !s.continues(h)
		if starts {
			if err := s.flushGroup(); err != nil {
				return err
			}
			groupStart = h.Offset
		}
		length := int64(0)
		if err == nil {
			length, err = s.read(h, starts)
		}
		if damage := (*warc.Error)(nil); errors.As(err, &damage) {
			r.result.DamagedRecords++
			if damage.Truncated {
				break
			}
			continue
		}
		if err != nil {
			return err
		}
		end = max(end, h.Offset+length)
	}
	if open && s.missing > 0 {
		switch logged, err := s.isLogged(); {
		case err != nil:
			return err
		case !logged:
			s.object, end = nil, groupStart
		}
	}
	if end > 0 || !open { // the next run removes an open file without records
		r.builder.SetEnd(base, end)
	}
	return errors.Join(s.flushGroup(), s.flush())
}

// continues reports whether h is a further record of the current group.
func (s *warcScan) continues(h *warc.Header) bool {
	return s.main != "" && s.missing > 0 && slices.Contains(concurrent(h), s.main)
}

// concurrent returns the IDs in the WARC-Concurrent-To fields of h.
func concurrent(h *warc.Header) []string {
	ids := h.Fields.Values("WARC-Concurrent-To")
	for i, id := range ids {
		ids[i] = strings.Trim(id, "<>")
	}
	return ids
}

// read reads a record and returns its length in the file.
func (s *warcScan) read(h *warc.Header, starts bool) (length int64, err error) {
	if starts {
		s.main, s.missing = h.ID(), len(concurrent(h))
	} else {
		s.missing--
		if h.Type() == warc.Metadata && s.object != nil && s.via == "" {
			s.via = viaOf(s.in)
		}
	}
	var object *sqlite.Record
	if starts {
		if object, err = s.objectOf(h); err != nil {
			return 0, err
		}
	}
	if length, err = s.in.Finish(); err != nil || object == nil {
		return length, err
	}
	object.Capture.Length = length
	s.object = object
	return length, nil
}

// viaOf returns the value of the field via in the block of a metadata record.
func viaOf(block io.Reader) string {
	lines := bufio.NewScanner(io.LimitReader(block, 128<<10))
	for lines.Scan() {
		if via, ok := strings.CutPrefix(lines.Text(), "via: "); ok {
			return via
		}
	}
	return ""
}

// objectOf describes the object in a record. It returns nil if the record
// contains no complete object. If the file is damaged, the error wraps a
// *warc.Error.
func (s *warcScan) objectOf(h *warc.Header) (*sqlite.Record, error) {
	u, err := uri.Parse(h.Target())
	if err != nil || h.Get("WARC-Truncated") != "" {
		return nil, nil
	}
	record := &sqlite.Record{Capture: frontier.Capture{
		URL: h.Target(), Run: s.r.run, Time: h.Date(), Kind: fetch.Document.String(), Media: h.Get("Content-Type"),
		File: s.file, Offset: h.Offset, ID: h.ID(), Proof: h.Get("WARC-Payload-Digest"),
	}}
	record.Item.URL = Canonical(u)
	c := &record.Capture
	switch h.Type() {
	case warc.Response:
		err = readResponse(s.in, record)
	case warc.Resource:
		c.Kind, c.Media = entries.KindOf(c.Media).String(), entries.UnmarkedMedia(c.Media)
		c.Size, c.Digest, err = hashObject(s.in)
	case warc.Revisit:
		if h.Get("WARC-Profile") == warc.ServerNotModified {
			return nil, nil
		}
		record.RefersTo = strings.Trim(h.Get("WARC-Refers-To"), "<>")
		record.Elsewhere = record.RefersTo == ""
		if h.Length > 0 {
			_, err = readHead(http1.NewReader(s.in, 32<<10), c)
		}
	default:
		return nil, nil
	}
	if damage := (*warc.Error)(nil); errors.As(err, &damage) {
		return nil, err
	}
	if err != nil {
		return nil, nil
	}
	return record, nil
}

var errNoObject = errors.New("the record contains no object")

// readResponse sets the fields of r from an HTTP response. The object of
// r.Capture has the content coding of the response, and r.Decoded has none.
func readResponse(block io.Reader, r *sqlite.Record) error {
	m, c := http1.NewReader(block, 32<<10), &r.Capture
	fields, err := readHead(m, c)
	if err != nil {
		return err
	}
	if c.Code < 200 || c.Code > 399 || c.Code == 206 || c.Code == 304 {
		return errNoObject
	}
	if c.Media == "" {
		buffered := bufio.NewReaderSize(m, media.SniffLen)
		start, _ := buffered.Peek(media.SniffLen) // hashObject returns the same error
		c.Media = media.Sniff(start)
		return hashForms(buffered, fields, r)
	}
	return hashForms(m, fields, r)
}

// hashForms sets the sizes and digests of both forms of an HTTP body. If the
// body cannot be decoded, it has only the form with its content coding.
func hashForms(body io.Reader, fields fetch.Header, r *sqlite.Record) error {
	list, err := coding.Parse(fields.Values("Content-Encoding"))
	if err != nil || len(list) == 0 {
		r.Capture.Size, r.Capture.Digest, err = hashObject(body)
		return err
	}
	coded := &countingHash{Hash: sha256.New()}
	body = io.TeeReader(body, coded)
	size, digest, err := hashObject(coding.NewReader(io.NopCloser(body), list, nil))
	if err == nil {
		r.Decoded = &sqlite.Form{Size: size, Digest: digest}
	}
	if _, err := io.Copy(io.Discard, body); err != nil {
		return err
	}
	r.Capture.Size = coded.n
	coded.Sum(r.Capture.Digest[:0])
	return nil
}

// A countingHash is a hash that counts the bytes written to it.
type countingHash struct {
	hash.Hash
	n int64
}

func (h *countingHash) Write(p []byte) (int, error) {
	h.n += int64(len(p))
	return h.Hash.Write(p)
}

// readHead reads the header of an HTTP response and sets the fields of c.
func readHead(m *http1.Reader, c *frontier.Capture) (fetch.Header, error) {
	code, fields, err := readStored(m)
	if err != nil {
		return nil, err
	}
	c.Code, c.Media = code, fields.Get("Content-Type")
	c.Modified, _ = http.ParseTime(fields.Get("Last-Modified"))
	c.Validator = http1.Condition(fields.Get, http.ParseTime)
	return fields, nil
}

// hashObject reads an object and returns its size and its digest.
func hashObject(object io.Reader) (size int64, digest [32]byte, err error) {
	sum := sha256.New()
	size, err = io.Copy(sum, object)
	sum.Sum(digest[:0])
	return size, digest, err
}

// isLogged reports whether the journal contains the object of the group.
func (s *warcScan) isLogged() (bool, error) {
	if s.object == nil {
		return false, nil
	}
	return s.r.builder.HasPlace(s.ctx, s.file, s.object.Capture.Offset)
}

// flushGroup adds the object of the current group to the batch.
func (s *warcScan) flushGroup() error {
	o := s.object
	s.object, s.main, s.missing = nil, "", 0
	via := s.via
	if s.via = ""; o == nil {
		return nil
	}
	u, err := uri.Parse(o.Item.URL)
	if err != nil {
		return nil
	}
	o.Item, o.State = s.r.o.NewItem(u, o.Item.URL, via)
	o.Capture.Key = o.Item.Key
	if s.batch.add(*o, o.Capture.TextSize()+len(o.Item.URL)+len(o.Item.Meta)+len(o.RefersTo)) {
		return s.flush()
	}
	return nil
}

func (s *warcScan) flush() error {
	added, err := s.r.builder.AddRecords(s.ctx, s.batch.rows)
	s.r.result.Unlogged += int64(added)
	s.batch.clear()
	return err
}
