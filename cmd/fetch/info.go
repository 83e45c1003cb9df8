package main

import (
	"encoding/json"
	"net/netip"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
	"github.com/spf13/cobra"
)

// info tells what is known of an object without its body.
func (a *app) info() *cobra.Command {
	return &cobra.Command{
		Use:   "info URL...",
		Short: "Tell what is known of an object without its body: one record of JSON each",
		RunE: func(_ *cobra.Command, args []string) error {
			if a.flags.head {
				return a.gets(args) // the protocol's own form
			}
			return a.batch(args, (*job).inform)
		},
	}
}

// record is what info says of an object, the same for every scheme. What is
// not known is left out.
type record struct {
	URL       uri.URI             `json:"url"`
	Chain     []uri.URI           `json:"chain,omitempty"`
	Location  string              `json:"location,omitempty"`
	Kind      fetch.Kind          `json:"kind"`
	Media     string              `json:"media,omitempty"`
	Size      *int64              `json:"size,omitempty"`
	Time      *time.Time          `json:"time,omitempty"`
	Validator string              `json:"validator,omitempty"`
	Code      int                 `json:"code,omitempty"`
	Proto     string              `json:"proto,omitempty"`
	Peer      *netip.Addr         `json:"peer,omitempty"`
	Header    map[string][]string `json:"header,omitempty"`
}

func recordOf(resp *fetch.Response) record {
	r := record{
		URL: resp.URL, Chain: resp.Chain, Location: resp.Location.String(), Kind: resp.Kind, Media: resp.Media,
		Validator: resp.Validator, Code: resp.Code, Proto: resp.Proto,
	}
	if resp.Size >= 0 {
		r.Size = &resp.Size
	}
	if !resp.Time.IsZero() {
		r.Time = &resp.Time
	}
	if resp.Peer.IsValid() {
		r.Peer = &resp.Peer
	}
	for _, f := range resp.Header {
		if r.Header == nil {
			r.Header = map[string][]string{}
		}
		value := f.Value
		if strings.EqualFold(f.Name, "Set-Cookie") {
			value = "***"
		}
		r.Header[f.Name] = append(r.Header[f.Name], value)
	}
	return r
}

func (j *job) inform() error {
	req, err := j.request(j.text)
	if err != nil {
		return err
	}
	req.Op = fetch.Stat
	resp, err := j.client.Do(j.ctx, req)
	if err != nil {
		return err
	}
	resp.Body.Close()
	return local(json.NewEncoder(j.stdout).Encode(recordOf(resp)))
}
