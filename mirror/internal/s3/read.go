package s3

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/store"
)

// digestField is the header field for the SHA-256 digest of an object, in
// hexadecimal digits. The server stores it as metadata.
const digestField = "X-Amz-Meta-Sha256"

func (s *bucket) Stat(ctx context.Context, name string) (store.Object, error) {
	o, _, err := s.head(ctx, name)
	return o, err
}

// head returns a description of an object, and its entity tag.
func (s *bucket) head(ctx context.Context, name string) (o store.Object, tag string, err error) {
	if err := store.CheckName(name); err != nil {
		return store.Object{}, "", err
	}
	fields, size, err := s.fields(ctx, name)
	switch {
	case isStatus(err, http.StatusNotFound):
		return store.Object{}, "", store.NotFound(s, name)
	case isStatus(err, http.StatusForbidden), isStatus(err, http.StatusBadRequest), isStatus(err, http.StatusMovedPermanently):
		// The response to HEAD has no body with the reason. GET returns it.
		if got, reason := s.get(ctx, name, 0, 1, ""); reason != nil {
			err = reason
		} else {
			got.Close()
		}
	}
	if err == nil && size < 0 {
		err = fetch.Protocol.Errorf("the server does not send the size")
	}
	if err != nil {
		return store.Object{}, "", s.failed("read", name, err)
	}
	o = store.Object{Name: name, Size: size}
	o.Modified, _ = http.ParseTime(fields.Get("Last-Modified"))
	sum, err := hex.DecodeString(fields.Get(digestField))
	if err == nil && len(sum) == len(o.SHA256) {
		copy(o.SHA256[:], sum)
	}
	return o, fields.Get("ETag"), nil
}

// fields returns the header fields of an object, and its size.
func (s *bucket) fields(ctx context.Context, name string) (fields http.Header, size int64, err error) {
	err = s.api.do(ctx, call{method: http.MethodHead, key: s.key(name)}, func(resp *http.Response) error {
		fields, size = resp.Header, resp.ContentLength
		return resp.Body.Close()
	})
	return fields, size, err
}

// get requests a range of an object. If tag is not empty, the object must have
// this entity tag.
func (s *bucket) get(ctx context.Context, name string, off, size int64, tag string) (body io.ReadCloser, err error) {
	fields := fetch.Header{{Name: "Range", Value: fmt.Sprintf("bytes=%d-%d", off, off+size-1)}}
	if tag != "" {
		fields = append(fields, fetch.Field{Name: "If-Match", Value: tag})
	}
	err = s.api.do(ctx, call{method: http.MethodGet, key: s.key(name), header: fields}, func(resp *http.Response) error {
		if want := fmt.Sprintf("bytes %d-", off); !strings.HasPrefix(resp.Header.Get("Content-Range"), want) {
			return errors.Join(fetch.Protocol.Errorf("the server does not support ranges"), resp.Body.Close())
		}
		body = resp.Body
		return nil
	})
	return body, err
}

func (s *bucket) Open(ctx context.Context, name string) (store.File, error) {
	o, tag, err := s.head(ctx, name)
	if err != nil {
		return nil, err
	}
	return &bucketFile{ctx, s, name, tag, o.Size}, nil
}

// bucketFile is an open object of a bucket. Its reads fail if the object is
// replaced.
type bucketFile struct {
	ctx  context.Context
	s    *bucket
	name string
	tag  string
	size int64
}

func (f *bucketFile) Size() int64  { return f.size }
func (f *bucketFile) Close() error { return nil }

func (f *bucketFile) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fetch.Internal.Errorf("store %s: negative position in %s", f.s, f.name)
	}
	if off >= f.size {
		return 0, io.EOF
	}
	want := min(int64(len(p)), f.size-off)
	for int64(n) < want {
		m, err := f.read(p[n:min(want, int64(n)+store.MaxRange)], off+int64(n))
		n += m
		if err != nil {
			return n, f.s.failed("read", f.name, err)
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// reads is the number of attempts to read a range. A client does not repeat a
// request whose connection fails after the start of the object.
const reads = 3

// read fills p with the bytes of the object at offset off.
func (f *bucketFile) read(p []byte, off int64) (n int, err error) {
	for range reads {
		var body io.ReadCloser
		body, err = f.s.get(f.ctx, f.name, off+int64(n), int64(len(p)-n), f.tag)
		if isStatus(err, http.StatusPreconditionFailed) {
			return n, fetch.Mismatch.Errorf("the object was replaced while it was read")
		}
		if err != nil {
			return n, err
		}
		var m int
		m, err = io.ReadFull(body, p[n:])
		n += m
		err = errors.Join(err, body.Close())
		if n == len(p) {
			return n, nil
		}
		if f.ctx.Err() != nil {
			return n, context.Cause(f.ctx)
		}
	}
	return n, fetch.Truncated.With(err)
}

func (s *bucket) List(ctx context.Context, prefix string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		query := url.Values{"list-type": {"2"}, "prefix": {s.key(prefix)}}
		var progress listProgress
		for {
			var page listPage
			start := time.Now()
			err := s.api.document(ctx, call{method: http.MethodGet, query: query}, listRoot, &page)
			if err == nil {
				err = progress.check(page.Contents, time.Since(start))
			}
			if err == nil && page.IsTruncated && page.NextContinuationToken == "" {
				err = fetch.Protocol.Errorf("the server does not say where the list continues")
			}
			if err != nil {
				yield(store.Object{}, s.failed("list", "objects", err))
				return
			}
			for _, c := range page.Contents {
				name, ours := strings.CutPrefix(c.Key, s.prefix)
				if !ours || store.CheckName(name) != nil {
					continue // not an object of this store, such as the placeholder of a folder
				}
				if !yield(store.Object{Name: name, Size: c.Size, Modified: c.LastModified}, nil) {
					return
				}
			}
			if !page.IsTruncated {
				return
			}
			query.Set("continuation-token", page.NextContinuationToken)
		}
	}
}

// maxEmptyPages is the maximum number of consecutive pages without an object. A
// server may send such pages, for example if many objects were deleted.
const maxEmptyPages = 100

// maxNames is the maximum memory for the names in a list, in bytes. Callers keep
// them in lists and maps, which need about nameCost bytes for each name. It
// suffices for 130,000 WARC files with their indexes.
const (
	maxNames = 64 << 20
	nameCost = 192
)

// A list may take listTime, and objectTime for each object. A server could
// otherwise send a page with one object every few minutes.
const (
	listTime   = 10 * time.Minute
	objectTime = 100 * time.Millisecond
)

// maxKey is the maximum size of the name of an object in S3, in bytes.
const maxKey = 1024

// A listProgress checks that the pages of a list come to an end. S3 lists the
// objects in the order of their names.
type listProgress struct {
	last    string        // last name of the previous pages
	empty   int           // number of consecutive pages without an object
	bytes   int           // memory for all names
	objects int           // number of all objects
	waited  time.Duration // time that all requests took
}

// check returns an error if a page does not follow the previous pages. The
// request for the page took the given time.
func (l *listProgress) check(page []listed, took time.Duration) error {
	l.waited += took
	l.objects += len(page)
	if l.waited > listTime+time.Duration(l.objects)*objectTime {
		return fetch.Timeout.Errorf("the server sent only %d objects of the list in %v", l.objects, l.waited.Round(time.Second))
	}
	if len(page) == 0 {
		if l.empty++; l.empty > maxEmptyPages {
			return fetch.Protocol.Errorf("the server sent %d pages without an object", l.empty)
		}
		return nil
	}
	for _, o := range page {
		if len(o.Key) > maxKey {
			return fetch.Protocol.Errorf("the list has a name of %d bytes (limit %d)", len(o.Key), maxKey)
		}
		l.bytes += len(o.Key) + nameCost
	}
	if l.bytes > maxNames {
		return fetch.TooLarge.Errorf("the list has too many objects: their names need more than %d bytes of memory", maxNames)
	}
	last := page[len(page)-1].Key
	if last <= l.last {
		return fetch.Protocol.Errorf("the server repeats the list, or does not sort it: %q follows %q", last, l.last)
	}
	l.last, l.empty = last, 0
	return nil
}
