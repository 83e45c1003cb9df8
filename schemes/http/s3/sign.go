package s3

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/awsfiles"
)

// A call is an HTTP request to an S3 server.
type call struct {
	host  string // of the Host field
	path  string // encoded
	query string // encoded, with its parameters in order
}

// call returns the request for a key in a bucket. The key "" is the bucket.
func (s server) call(bucket, key string) call {
	if s.aws && !strings.ContainsAny(bucket, "._ABCDEFGHIJKLMNOPQRSTUVWXYZ") { // the certificate covers only one label
		return call{host: bucket + "." + s.host, path: "/" + encode(key, true)}
	}
	path := "/" + bucket
	if key != "" {
		path += "/" + encode(key, true)
	}
	return call{host: s.host, path: path}
}

// target returns the path and the query of the request line.
func (c call) target() string {
	if c.query == "" {
		return c.path
	}
	return c.path + "?" + c.query
}

// encode encodes text as AWS requires: all bytes except letters, digits and
// -._~, and except slashes if slash is true.
func encode(text string, slash bool) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0 || slash && c == '/' {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// emptyDigest is the SHA-256 digest of the body of each request.
const emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// sign returns the header fields of the request: those of more, and a signature
// of the request with the key (AWS Signature Version 4).
func (c call) sign(method string, key awsfiles.AccessKey, region string, now time.Time, more ...fetch.Field) fetch.Header {
	date := now.UTC().Format("20060102T150405Z")
	fields := append(slices.Clone(more), fetch.Field{Name: "x-amz-content-sha256", Value: emptyDigest}, fetch.Field{Name: "x-amz-date", Value: date})
	if key.Token != "" {
		fields = append(fields, fetch.Field{Name: "x-amz-security-token", Value: key.Token.Reveal()})
	}
	signed := append(slices.Clone(fields), fetch.Field{Name: "host", Value: c.host})
	slices.SortFunc(signed, func(a, b fetch.Field) int { return strings.Compare(a.Name, b.Name) })
	var names []string
	request := method + "\n" + c.path + "\n" + c.query + "\n"
	for _, f := range signed {
		names = append(names, f.Name)
		request += f.Name + ":" + f.Value + "\n"
	}
	list := strings.Join(names, ";")
	digest := sha256.Sum256([]byte(request + "\n" + list + "\n" + emptyDigest))
	scope := date[:8] + "/" + region + "/s3/aws4_request"
	signing := []byte("AWS4" + key.Secret.Reveal())
	for part := range strings.SplitSeq(scope, "/") {
		signing = mac(signing, part)
	}
	signature := mac(signing, "AWS4-HMAC-SHA256\n"+date+"\n"+scope+"\n"+hex.EncodeToString(digest[:]))
	value := "AWS4-HMAC-SHA256 Credential=" + key.ID + "/" + scope + ", SignedHeaders=" + list + ", Signature=" + hex.EncodeToString(signature)
	return append(fields, fetch.Field{Name: "Authorization", Value: value})
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
