package gateway

import (
	"cmp"
	"slices"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/crawlreport"
)

// reasonWords describes the Faults that reports of mirrors name.
var reasonWords = map[string]string{
	fetch.NotFound.Error(): "not found", fetch.DNS.Error(): "unknown host name", fetch.Connect.Error(): "no connection",
	fetch.Timeout.Error(): "no response in time", fetch.TLS.Error(): "server not verified", fetch.Auth.Error(): "login required",
	fetch.Protocol.Error(): "invalid response", fetch.TryLater.Error(): "server busy", fetch.Denied.Error(): "denied by the server",
	fetch.BadURL.Error(): "invalid URL", fetch.NeedQuery.Error(): "search words missing", fetch.BadPort.Error(): "port denied by the policy",
	fetch.BadAddress.Error(): "address denied by the policy", fetch.BadReferral.Error(): "link denied by the policy",
	fetch.TooLarge.Error(): "too large", fetch.Bomb.Error(): "too large after decompression", fetch.Loop.Error(): "endless redirects",
	fetch.Truncated.Error(): "incomplete transfer", fetch.Mismatch.Error(): "wrong digest", fetch.Unsupported.Error(): "not supported",
}

// inWords returns a copy of rows in which words replace the names of Faults.
func inWords(rows []crawlreport.Row) []crawlreport.Row {
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].Name = cmp.Or(reasonWords[rows[i].Name], rows[i].Name)
	}
	return rows
}
