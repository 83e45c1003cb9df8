// Package awssign computes signatures of AWS Signature Version 4, for the packages
// sigv4, s3 and mirror/s3.
package awssign

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// EmptyDigest is the SHA-256 digest of an empty body in base 16.
const EmptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// A Key is an access key for one service in one region.
type Key struct {
	ID              string
	Secret, Token   fetch.Secret // the token is "" unless the key is temporary
	Region, Service string
}

// A Message has the parts of a request that are signed.
type Message struct {
	Method, Host string
	Path, Query  string       // encoded as AWS requires; the parameters of the query are sorted
	Header       fetch.Header // further fields that are signed
	Digest       string       // SHA-256 digest of the body in base 16, or "" for an empty body
}

// Sign returns the header fields of the request: the fields of m, the date, the
// token and the signature.
func (k Key) Sign(m Message, now time.Time) fetch.Header {
	date := now.UTC().Format("20060102T150405Z")
	fields := append(slices.Clone(m.Header), fetch.Field{Name: "X-Amz-Date", Value: date})
	if k.Token != "" {
		fields = append(fields, fetch.Field{Name: "X-Amz-Security-Token", Value: k.Token.Reveal()})
	}
	names, request := m.canonical(fields)
	digest := sha256.Sum256([]byte(request))
	scope := date[:8] + "/" + k.Region + "/" + k.Service + "/aws4_request"
	signing := []byte("AWS4" + k.Secret.Reveal())
	for part := range strings.SplitSeq(scope, "/") {
		signing = mac(signing, part)
	}
	signature := mac(signing, "AWS4-HMAC-SHA256\n"+date+"\n"+scope+"\n"+hex.EncodeToString(digest[:]))
	value := "AWS4-HMAC-SHA256 Credential=" + k.ID + "/" + scope + ", SignedHeaders=" + names + ", Signature=" + hex.EncodeToString(signature)
	return append(fields, fetch.Field{Name: "Authorization", Value: value})
}

// canonical returns the names of the signed fields and the text that is signed.
// Fields with the same name are combined.
func (m Message) canonical(fields fetch.Header) (names, text string) {
	values := map[string]string{"host": m.Host}
	for _, f := range fields {
		name, value := strings.ToLower(f.Name), strings.Join(strings.Fields(f.Value), " ")
		if before, ok := values[name]; ok {
			value = before + "," + value
		}
		values[name] = value
	}
	var sorted []string
	for name := range values {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	text = m.Method + "\n" + m.Path + "\n" + m.Query + "\n"
	for _, name := range sorted {
		text += name + ":" + values[name] + "\n"
	}
	names = strings.Join(sorted, ";")
	return names, text + "\n" + names + "\n" + cmp.Or(m.Digest, EmptyDigest)
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// EncodePath encodes a path as AWS requires: all bytes except slashes, letters,
// digits and -._~.
func EncodePath(path string) string {
	return strings.ReplaceAll(uri.Escape(path, uri.Unreserved), "%2F", "/")
}
