package transcript

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
)

// maxBody is the maximum length of a body that a result quotes. Of longer
// bodies, it contains the length and the SHA-256 digest.
const maxBody = 1000

// A result describes a response in one line.
type result struct {
	text  string
	cause string // cause of the error in the form ": CAUSE (OVERRIDE)", or ""
}

// matches reports whether a line of a transcript describes the result. The line
// may omit the cause of an error.
func (r result) matches(line string) bool { return line == r.text || line == r.text+r.cause }

func (r result) String() string { return r.text + r.cause }

// do sends req through c and describes the response.
func do(ctx context.Context, c *fetch.Client, req *fetch.Request, list bool) result {
	resp, err := c.Do(ctx, req)
	if err != nil {
		return failure(err)
	}
	defer resp.Body.Close()
	parts := []string{resp.Kind.String()}
	add := func(known bool, format string, value any) {
		if known {
			parts = append(parts, fmt.Sprintf(format, value))
		}
	}
	add(resp.Media != "", "%s", resp.Media)
	var body string
	if list {
		body, err = entriesOf(resp)
	} else {
		body, err = bodyOf(resp)
	}
	add(body != "", "%s", body)
	add(resp.Offset != 0, "offset=%d", resp.Offset)
	add(resp.Size >= 0, "size=%d", resp.Size)
	add(resp.Validator != "", "validator=%s", resp.Validator)
	add(!resp.Time.IsZero(), "time=%s", resp.Time.UTC().Format(time.RFC3339))
	add(resp.URL != req.URL, "url=%s", resp.URL)
	add(!resp.Location.IsZero(), "location=%s", resp.Location)
	add(req.Op == fetch.Stat && len(resp.Header) > 0, "header=%q", resp.Header)
	add(resp.Unchanged, "%s", "unchanged")
	if err == nil {
		return result{text: strings.Join(parts, " ")}
	}
	failed := failure(err)
	failed.text = strings.Join(append(parts, failed.text), " ")
	return failed
}

// bodyOf reads the body of resp and returns it in quotes. If the body is longer
// than maxBody, bodyOf returns its length and digest.
func bodyOf(resp *fetch.Response) (string, error) {
	body, err := io.ReadAll(resp.Body)
	if len(body) > maxBody {
		return fmt.Sprintf("%d bytes %x", len(body), sha256.Sum256(body)), err
	}
	return strconv.Quote(string(body)), err
}

// entriesOf reads the entries of resp and returns them as JSON, without
// Entry.Raw.
func entriesOf(resp *fetch.Response) (string, error) {
	var all []string
	for e, err := range resp.Entries() {
		if err != nil {
			return strings.Join(all, " "), err
		}
		e.Raw = ""
		text, err := json.Marshal(e)
		if err != nil {
			return strings.Join(all, " "), err
		}
		all = append(all, string(text))
	}
	return strings.Join(all, " "), nil
}

func failure(err error) result {
	r := result{text: "error " + fetch.FaultOf(err).String()}
	cause := err
	if e, ok := err.(*fetch.Error); ok {
		if cause = e.Err; e.Code != 0 {
			r.text += " " + strconv.Itoa(e.Code)
		}
	}
	if cause != nil {
		r.cause = ": " + cause.Error()
	}
	if o := override.Of(err); o != (override.Setting{}) {
		r.cause += " (" + o.String() + ")"
	}
	return r
}
