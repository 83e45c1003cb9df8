package s3_test

import (
	"fmt"
	"os"

	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/mirror/s3"
)

// The finished WARC files of a crawl are uploaded to a bucket. New does not
// connect to the server.
func ExampleNew() {
	store := s3.New("s3://bucket/crawl?region=us-east-1", s3.Options{Getenv: os.Getenv})
	o := mirror.Options{Dir: "site", Store: store, WARC: &mirror.WARC{}}
	fmt.Println(o.Store)
	// Output: s3://bucket/crawl?region=us-east-1
}
