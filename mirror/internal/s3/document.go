package s3

import (
	"bytes"
	"context"
	"encoding/xml"
	"io"
	"net/http"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// A listPage is a page of a list of objects.
type listPage struct {
	IsTruncated           bool
	NextContinuationToken string
	Contents              []listed
}

type listed struct {
	Key          string
	Size         int64
	LastModified time.Time
}

// uploadList is a list of incomplete uploads.
type uploadList struct {
	Upload []struct{ Key, UploadId string }
}

// upload is the response to a request that starts an upload in parts.
type upload struct{ UploadId string }

// A completion is the request that joins the parts of an upload.
type completion struct {
	XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ CompleteMultipartUpload"`
	Part    []part
}

type part struct {
	PartNumber           int
	ETag, ChecksumSHA256 string
}

// joined is the response to a completion.
type joined struct{ ChecksumSHA256 string }

// errorDocument is the body of an error response.
type errorDocument struct{ Code, Message string }

const listRoot = "ListBucketResult"

// readDocument decodes the body of resp, whose root element has the given name.
// It closes the body. The server may send an error with the status of a success,
// because it responds before it has joined the parts of an upload.
func readDocument(resp *http.Response, root string, into any) error {
	text, err := readBody(resp)
	if err != nil {
		return err
	}
	quotes := bytes.Count(text, []byte{'"'}) + bytes.Count(text, []byte{'\''}) // two of each attribute
	if bytes.Count(text, []byte{'<'}) > maxTags || quotes > 2*maxTags {
		return errLongBody
	}
	switch got := rootOf(text); {
	case got == "Error" && len(text) > maxError:
		return errLongBody
	case got == "Error":
		answer := newAnswer(resp, text)
		answer.status = http.StatusInternalServerError
		return answer
	case got != root && root == listRoot:
		return errNoList
	case got != root || xml.Unmarshal(text, into) != nil:
		return fetch.Protocol.Errorf("the response of the server is not the XML document of S3 (status %d)", resp.StatusCode)
	}
	return nil
}

// rootOf returns the name of the root element of a document, or "".
func rootOf(text []byte) string {
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if err != nil {
			return ""
		}
		if root, ok := token.(xml.StartElement); ok {
			return root.Name.Local
		}
	}
}

// readBody reads the body of resp and closes it.
func readBody(resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err == nil:
		return text, nil
	case err == errLongBody || err == errSlowBody:
		return nil, err
	}
	if cause := context.Cause(resp.Request.Context()); cause != nil {
		return nil, fetch.Canceled.With(cause)
	}
	return nil, fetch.Truncated.Errorf("the response of the server is incomplete: %w", err)
}
