package rfc822

import "testing"

func TestDecodeWords(t *testing.T) {
	for value, want := range map[string]string{
		"plain":                                  "plain",
		"=?utf-8?q?caf=C3=A9?= =?UTF-8?b?IQ==?=": "café!",
		"=?koi8-r?B?xMHO1w==?=":                  "данв",
		"=?x-unknown?q?a?=":                      "=?x-unknown?q?a?=",
		"=?utf-8?q?not closed":                   "=?utf-8?q?not closed",
	} {
		if got := DecodeWords(value); got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
}
