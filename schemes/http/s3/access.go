package s3

import (
	"errors"
	"net/http"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/awsfiles"
)

// buckets records the buckets that the user has not entered, such as those of the
// seeds in an archive of a stranger. Requests to them are not signed, because the
// access key identifies the user and can read private objects.
type buckets struct {
	mu       sync.Mutex
	stranger map[string]bool
}

// maxBuckets is the maximum number of buckets that are recorded. Once it is
// reached, only requests for URLs that the user entered are signed.
const maxBuckets = 100_000

// permits reports whether a request to a bucket may be signed. It may if the user
// entered its URL. It also may if a listing or a redirect of the bucket supplied
// the URL, and all requests to the bucket so far were permitted.
func (b *buckets) permits(req *fetch.Request, bucket string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case req.Typed():
		delete(b.stranger, bucket)
		return true
	case len(b.stranger) >= maxBuckets:
		return false
	case req.From.URL.Scheme() != "s3" || req.From.URL.Host() != bucket:
		if b.stranger == nil {
			b.stranger = map[string]bool{}
		}
		b.stranger[bucket] = true
	}
	return !b.stranger[bucket]
}

// accessKey returns the access key for a request. The result ok is false if the
// request is not signed. The result denied is true if only the origin of its URL
// is the reason.
func (d *driver) accessKey(req *fetch.Request) (key awsfiles.AccessKey, ok, denied bool, err error) {
	permitted := d.buckets.permits(req, req.URL.Host())
	if d.options.Anonymous {
		return key, false, false, nil
	}
	key, err = awsfiles.ReadKey(d.options.Getenv)
	switch {
	case errors.Is(err, awsfiles.ErrNoKey):
		return key, false, false, nil
	case err != nil:
		return key, false, false, err
	case !permitted:
		return awsfiles.AccessKey{}, false, true, nil
	}
	return key, true, false, nil
}

// adviseEntering adds to the Fault of a response that the request was not signed,
// because the user has not entered its URL.
func adviseEntering(resp *fetch.Response, bucket string) {
	if resp.Code == http.StatusUnauthorized || resp.Code == http.StatusForbidden {
		const format = "%w; not signed, because the user has not entered a URL of the bucket %s"
		resp.Fault = fetch.FaultOf(resp.Fault).Errorf(format, resp.Fault, bucket)
	}
}
