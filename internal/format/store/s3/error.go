package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	smithy "github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

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

// failed converts an error of the SDK to a failure with a fault. Its text
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

// classify converts an error of the SDK to an error with a Fault.
func classify(err error) error {
	var answer *smithyhttp.ResponseError
	var api smithy.APIError
	var fault fetch.Fault
	var send *smithyhttp.RequestSendError
	switch {
	case errors.Is(err, errLongBody):
		return errLongBody
	case errors.Is(err, errNoList):
		return errNoList
	case errors.Is(err, errSlowBody):
		return errSlowBody
	case errors.As(err, &fault):
		return cause(err)
	case errors.As(err, &send) && fetch.FaultOf(send.Err) == fetch.Internal: // such as a header that is too long
		return fetch.Protocol.With(send.Err)
	case errors.As(err, &send):
		return send.Err
	case errors.Is(err, context.Canceled):
		return fetch.Canceled.With(context.Canceled)
	case !errors.As(err, &answer):
		return err
	}
	var syntax *smithy.DeserializationError
	if errors.As(err, &syntax) && answer.HTTPStatusCode() < 300 {
		return fetch.Protocol.Errorf("the response of the server is not the XML document of S3 (status %d)", answer.HTTPStatusCode())
	}
	code, message := http.StatusText(answer.HTTPStatusCode()), ""
	switch {
	case errors.As(err, &api):
		code, message = api.ErrorCode(), api.ErrorMessage()
	case answer.HTTPStatusCode() < 300: // the connection failed after the head of the response
		return fetch.Truncated.Errorf("the response of the server is incomplete: %w", innermost(answer))
	}
	fault, known := codes[code]
	if !known {
		fault = statusFault(answer.HTTPStatusCode())
	}
	if code == "NoSuchBucket" {
		return fault.Errorf("the bucket does not exist")
	}
	text := fmt.Sprintf("%s (status %d)", code, answer.HTTPStatusCode())
	if message != "" && message != code {
		text += ": " + message
	}
	if region := answer.Response.Header.Get("X-Amz-Bucket-Region"); region != "" && fault == fetch.Usage {
		text += ": the region of the bucket is " + region
	}
	if explanation := texts[fault]; explanation != "" {
		text = explanation + ": " + text
	}
	return fault.Errorf("%s", text)
}

// innermost returns the error that err and its causes wrap.
func innermost(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}

// cause returns the innermost error with a Fault, without the descriptions that
// the SDK adds.
func cause(err error) error {
	var send *smithyhttp.RequestSendError
	var fault fetch.Fault
	if errors.As(err, &send) && errors.As(send.Err, &fault) {
		return send.Err
	}
	var op *smithy.OperationError
	for errors.As(err, &op) {
		err = op.Err
	}
	return err
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

// isStatus reports whether err is a response of the server with the given HTTP
// status.
func isStatus(err error, status int) bool {
	var answer *smithyhttp.ResponseError
	return errors.As(err, &answer) && answer.HTTPStatusCode() == status
}
