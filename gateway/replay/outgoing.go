package replay

import (
	"io"
	"net/http"

	"github.com/anyurl/fetch/fetch"
)

// setOutgoing sets the method and the body of the request for a capture.
func setOutgoing(req *fetch.Request, r *http.Request) error {
	_, err := io.ReadAll(io.LimitReader(r.Body, maxPosted))
	return err
}
