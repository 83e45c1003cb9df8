package recordcmd

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/anyurl/fetch/capture"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/internal/wire/mitm"
	"github.com/anyurl/fetch/uri"
	"github.com/spf13/pflag"
)

// accessFlags are the flags for the CA and the token.
type accessFlags struct {
	ca, caOut, tokenFile string
}

func (f *accessFlags) register(p *pflag.FlagSet) {
	p.StringVar(&f.ca, "ca", "", "read or create the CA in `FILE` (default in the folder of config.toml)")
	p.StringVar(&f.caOut, "ca-out", "", "write the certificate of the CA to `FILE`, for import into a browser")
	p.StringVar(&f.tokenFile, "token-file", "", "read or create the token in `FILE` (default: a new token for each run)")
}

// openCA opens the CA and writes its certificate.
func (f *accessFlags) openCA() (*mitm.CA, error) {
	name := f.ca
	if name == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return nil, fetch.Usage.Errorf("--ca is required: %w", err)
		}
		name = filepath.Join(dir, "fetch", "record-ca.pem")
	}
	ca, err := mitm.OpenCA(name, time.Now())
	if err != nil {
		return nil, fetch.Local.With(err)
	}
	if f.caOut == "" {
		return ca, nil
	}
	if a, err := filepath.Abs(f.caOut); err == nil {
		if b, err := filepath.Abs(name); err == nil && a == b {
			return nil, fetch.Usage.Errorf("--ca-out names the file of the private key")
		}
	}
	return ca, fetch.LocalError(os.WriteFile(f.caOut, ca.PEM(), 0o644))
}

// A token authenticates the user of the proxy.
type token struct{ text string }

// minToken and maxToken limit the length of a token that the user has written.
const minToken, maxToken = 16, 256

// openToken returns the token of --token-file, or a new token.
func (f *accessFlags) openToken() (*token, error) {
	if f.tokenFile == "" {
		return newToken()
	}
	file, err := regularfile.Open(f.tokenFile)
	if errors.Is(err, fs.ErrNotExist) {
		return f.createToken()
	}
	if err != nil {
		return nil, fetch.LocalError(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fetch.Usage.Errorf("--token-file %s: other users may read the token: its mode must be 0600", f.tokenFile)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxToken+2))
	if err != nil {
		return nil, fetch.LocalError(err)
	}
	text = bytes.TrimRight(text, "\r\n")
	if len(text) < minToken || len(text) > maxToken || bytes.ContainsFunc(text, func(r rune) bool { return !uri.Unreserved.Has(byte(r)) || r > '~' }) {
		return nil, fetch.Usage.Errorf("--token-file %s: a token has %d to %d letters, digits or the characters -._~", f.tokenFile, minToken, maxToken)
	}
	return &token{string(text)}, nil
}

func newToken() (*token, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return nil, fetch.Local.With(err)
	}
	return &token{base64.RawURLEncoding.EncodeToString(b[:])}, nil
}

// createToken writes a new token to the file.
func (f *accessFlags) createToken() (*token, error) {
	t, err := newToken()
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(f.tokenFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fetch.LocalError(err)
	}
	_, err = io.WriteString(file, t.text+"\n")
	return t, fetch.LocalError(errors.Join(err, file.Close()))
}

// permits reports whether a request contains the token.
func (t *token) permits(r *http.Request) bool {
	encoded, ok := strings.CutPrefix(mitm.ProxyAuthorization(r), "Basic ")
	login, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if !ok || err != nil {
		return false
	}
	_, password, _ := strings.Cut(string(login), ":")
	got, want := sha256.Sum256([]byte(password)), sha256.Sum256([]byte(t.text))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// source returns nil for a request of the user, so that its URL is treated like
// one that the user entered. The URLs of all other requests are links.
func (t *token) source(r *http.Request, u uri.URI) (*fetch.Source, error) {
	client, err := netip.ParseAddrPort(r.RemoteAddr)
	if err == nil && client.Addr().Unmap().IsLoopback() && t.permits(r) {
		return nil, nil
	}
	return capture.PublicPage(u), nil
}

// ownPages returns the pages at the address of the proxy itself.
func ownPages(ca *mitm.CA) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ca.pem", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-x509-ca-cert")
		w.Header().Set("Content-Disposition", `attachment; filename="fetch-recording-proxy-ca.pem"`)
		w.Write(ca.PEM())
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox allow-downloads")
		fmt.Fprintf(w, "<!doctype html>\n<html lang=\"en\"><title>Recording proxy</title>\n<h1>Recording proxy of fetch</h1>\n"+
			"<p>Use this address as the proxy for HTTP and HTTPS. <a href=\"/ca.pem\">The certificate of its CA</a> (%s) must be trusted.</p>\n",
			html.EscapeString(ca.Name()))
	})
	return mux
}
