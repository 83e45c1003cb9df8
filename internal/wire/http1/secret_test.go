package http1

import "testing"

// TestIsSecretField checks names of header fields that programs use for
// credentials, and names of other fields.
func TestIsSecretField(t *testing.T) {
	for _, name := range []string{"Authorization", "Cookie", "X-Api-Key", "PRIVATE-TOKEN", "X-Amz-Security-Token", "X-Goog-IAP-JWT-Assertion",
		"Cf-Access-Jwt-Assertion", "DPoP", "X-Passwd", "X-Pwd"} {
		if !IsSecretField(name) {
			t.Errorf("%s is not secret", name)
		}
	}
	for _, name := range []string{"Accept", "Referer", "Range", "If-Match", "User-Agent", "Host", "Content-Type", "Alt-Used"} {
		if IsSecretField(name) {
			t.Errorf("%s is secret", name)
		}
	}
}
