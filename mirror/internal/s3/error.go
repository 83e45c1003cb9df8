package s3

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/store"
)

// codes maps the error codes of S3 to faults. For other codes, statusFault
// determines the fault.
var codes = map[string]fetch.Fault{
	"NoSuchBucket":                 fetch.NotFound,
	"InvalidAccessKeyId":           fetch.Auth,
	"SignatureDoesNotMatch":        fetch.Auth,
	"ExpiredToken":                 fetch.Auth,
	"InvalidToken":                 fetch.Auth,
	"TokenRefreshRequired":         fetch.Auth,
	"RequestTimeTooSkewed":         fetch.Auth,
	"AccessDenied":                 fetch.Denied,
	"PreconditionFailed":           fetch.Mismatch,
	"BadDigest":                    fetch.Truncated, // the bytes were changed during the transfer
	"XAmzContentSHA256Mismatch":    fetch.Truncated,
	"XAmzContentChecksumMismatch":  fetch.Truncated,
	"IncompleteBody":               fetch.Truncated,
	"RequestTimeout":               fetch.TryLater,
	"SlowDown":                     fetch.TryLater,
	"Throttling":                   fetch.TryLater,
	"OperationAborted":             fetch.TryLater,
	"ConditionalRequestConflict":   fetch.TryLater,
	"NoSuchUpload":                 fetch.TryLater, // another process has ended the upload
	"AuthorizationHeaderMalformed": fetch.Usage,    // the region is wrong
	"PermanentRedirect":            fetch.Usage,
}

// texts contains explanations of faults.
var texts = map[fetch.Fault]string{
	fetch.Auth:     "the server rejects the access key",
	fetch.Denied:   "the access key has no permission",
	fetch.Usage:    "the region or the endpoint is wrong",
	fetch.TryLater: "the server cannot respond now",
}

// An answerError is a response of the server whose status is no success.
type answerError struct {
	status        int
	code, message string // of the document, or the text of the status and ""
	header        http.Header
}

func (e *answerError) Error() string { return fmt.Sprintf("%s (status %d)", e.code, e.status) }

// readError returns the error that resp describes, and closes the body.
func readError(resp *http.Response) error {
	text, err := readBody(resp)
	if err != nil {
		return err
	}
	return newAnswer(resp, text)
}

func newAnswer(resp *http.Response, text []byte) *answerError {
	answer := &answerError{status: resp.StatusCode, code: http.StatusText(resp.StatusCode), header: resp.Header}
	var document errorDocument
	if xml.Unmarshal(text, &document) == nil && document.Code != "" {
		answer.code, answer.message = document.Code, document.Message
	}
	return answer
}

func asAnswer(err error) (answer *answerError, ok bool) {
	ok = errors.As(err, &answer)
	return answer, ok
}

// isStatus reports whether err is a response of the server with the given HTTP
// status.
func isStatus(err error, status int) bool {
	answer, ok := asAnswer(err)
	return ok && answer.status == status
}

// failed converts an error of a request to a failure with a fault. Its text
// contains the error code and the message of the server.
func (s *bucket) failed(op, name string, err error) error {
	if err == nil {
		return nil
	}
	var f *store.Failure
	if !errors.As(err, &f) {
		err = classify(err)
	}
	return store.Fail(s, op, name, err)
}

// classify converts an error of a request to an error with a Fault.
func classify(err error) error {
	var fault fetch.Fault
	answer, ok := asAnswer(err)
	switch {
	case errors.As(err, &fault):
		return err
	case errors.Is(err, context.Canceled):
		return fetch.Canceled.With(context.Canceled)
	case !ok:
		return err
	}
	fault, known := codes[answer.code]
	if !known {
		fault = statusFault(answer.status)
	}
	if answer.code == "NoSuchBucket" {
		return fault.Errorf("the bucket does not exist")
	}
	text := answer.Error()
	if answer.message != "" && answer.message != answer.code {
		text += ": " + answer.message
	}
	if region := answer.header.Get("X-Amz-Bucket-Region"); region != "" && fault == fetch.Usage {
		text += ": the region of the bucket is " + region
	}
	if explanation := texts[fault]; explanation != "" {
		text = explanation + ": " + text
	}
	return fault.Errorf("%s", text)
}

// statusFault returns the fault for the HTTP status of an error response. It is
// used if the error code is unknown.
func statusFault(status int) fetch.Fault {
	switch {
	case status == http.StatusPreconditionFailed:
		return fetch.Mismatch
	case status == http.StatusNotFound:
		return fetch.NotFound
	case status == http.StatusUnauthorized:
		return fetch.Auth
	case status >= 300 && status < 400:
		return fetch.Usage
	case status == http.StatusNotImplemented:
		return fetch.Unsupported
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status == http.StatusConflict:
		return fetch.TryLater
	}
	return fetch.Denied
}
