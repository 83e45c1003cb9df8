package negotiate

import (
	"context"
	"encoding/binary"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/patype"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/anyurl/fetch/fetch"
)

func encode(t *testing.T, value any) []byte {
	t.Helper()
	b, err := asn1.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// element returns a PA-ETYPE-INFO2 element with entries.
func element(t *testing.T, entries ...types.ETypeInfo2Entry) types.PAData {
	t.Helper()
	return types.PAData{PADataType: patype.PA_ETYPE_INFO2, PADataValue: encode(t, types.ETypeInfo2(entries))}
}

func entry(kind int32, salt string, parameters ...byte) types.ETypeInfo2Entry {
	return types.ETypeInfo2Entry{EType: kind, Salt: salt, S2KParams: parameters}
}

// TestReadDerivation checks which keys a KDC may require.
func TestReadDerivation(t *testing.T) {
	for _, c := range []struct {
		name       string
		kind       int32
		parameters []byte
		ok         bool
	}{
		{"AES", 18, nil, true},
		{"AES, minimum", 17, []byte{0, 0, 0x10, 0}, true},
		{"AES, below the minimum", 17, []byte{0, 0, 0x0f, 0xff}, false},
		{"AES, one iteration", 18, []byte{0, 0, 0, 1}, false},
		{"AES, 0 iterations", 18, []byte{0, 0, 0, 0}, false},
		{"AES with SHA-2", 20, nil, true},
		{"AES with SHA-2, minimum", 20, []byte{0, 0, 0x80, 0}, true},
		{"AES with SHA-2, below the minimum", 19, []byte{0, 0, 0x7f, 0xff}, false},
		{"AES with SHA-2, 0 iterations", 19, []byte{0, 0, 0, 0}, false},
		{"short parameters", 18, []byte{0x10, 0, 0}, false},
		{"long parameters", 18, []byte{0, 0, 0, 0x10, 0}, false},
		{"RC4", 23, nil, false},
		{"3DES", 16, nil, false},
		{"maximum", 18, []byte{0, 0x10, 0, 0}, true},
		{"many iterations", 18, []byte{0, 0x10, 0, 1}, false},
		{"very many iterations", 18, []byte{0xff, 0xff, 0xff, 0xff}, false},
	} {
		d, err := readDerivation(types.PADataSequence{element(t, entry(c.kind, "x", c.parameters...))}, derivation{})
		if (err == nil) != c.ok || c.ok && d.kind != c.kind {
			t.Errorf("%s: got type %d, %v", c.name, d.kind, err)
		}
	}
	for name, list := range map[string]types.PADataSequence{
		"malformed list": {{PADataType: patype.PA_ETYPE_INFO2, PADataValue: []byte("x")}},
		"empty list":     {element(t)},
		"two lists":      {element(t, entry(18, "x")), element(t, entry(18, "x"))},
	} {
		if _, err := readDerivation(list, derivation{kind: 18}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestProof checks that exactly one entry of PA-ETYPE-INFO2 determines the key of
// the encrypted time, whatever a KDC sends before and after it.
func TestProof(t *testing.T) {
	c, err := config.NewFromString("[libdefaults]\n default_realm = R\n")
	if err != nil {
		t.Fatal(err)
	}
	older := types.PAData{PADataType: patype.PA_ETYPE_INFO, PADataValue: encode(t, types.ETypeInfo{{EType: 23, Salt: []byte("x")}})}
	empty := types.PAData{PADataType: patype.PA_ETYPE_INFO, PADataValue: encode(t, types.ETypeInfo{})}
	salt := types.PAData{PADataType: patype.PA_PW_SALT, PADataValue: []byte("x")}
	for _, test := range []struct {
		name       string
		list       types.PADataSequence
		kind       int32
		salt       string
		iterations string // in hexadecimal digits
	}{
		{"one entry", types.PADataSequence{element(t, entry(17, "s"))}, 17, "s", "00001000"},
		{"parameters", types.PADataSequence{element(t, entry(18, "s", 0, 0, 0x20, 0))}, 18, "s", "00002000"},
		{"SHA-2", types.PADataSequence{element(t, entry(20, "s"))}, 20, "s", "00008000"},
		{"nothing", types.PADataSequence{}, 18, "Ralice", "00001000"},
		{"PA-ETYPE-INFO after it", types.PADataSequence{element(t, entry(17, "s")), older}, 17, "s", "00001000"},
		{"PA-ETYPE-INFO before it", types.PADataSequence{older, element(t, entry(17, "s"))}, 17, "s", "00001000"},
		{"PA-PW-SALT after it", types.PADataSequence{element(t, entry(17, "s")), salt}, 17, "s", "00001000"},
		{"only PA-ETYPE-INFO", types.PADataSequence{older}, 18, "Ralice", "00001000"},
		{"only PA-PW-SALT", types.PADataSequence{salt}, 18, "Ralice", "00001000"},
		{"empty PA-ETYPE-INFO", types.PADataSequence{element(t, entry(17, "s")), empty}, 17, "s", "00001000"},
		{"further entries", types.PADataSequence{element(t, entry(17, "s"), entry(23, "x"), entry(18, "x", 0, 0, 0, 1))}, 17, "s", "00001000"},
		{"two elements", types.PADataSequence{element(t, entry(17, "s")), element(t, entry(23, "x"))}, 0, "", ""},
		{"0 iterations", types.PADataSequence{element(t, entry(18, "s", 0, 0, 0, 0))}, 0, "", ""},
		{"RC4", types.PADataSequence{element(t, entry(23, "s"))}, 0, "", ""},
	} {
		name := types.NewPrincipalName(1, "alice")
		req, err := messages.NewASReqForTGT("R", c, name)
		if err != nil {
			t.Fatal(err)
		}
		before := len(req.PAData)
		required := messages.KRBError{ErrorCode: errorcode.KDC_ERR_PREAUTH_REQUIRED, EData: encode(t, test.list), CName: name, CRealm: "R"}
		_, err = addProof(&req, client.NewWithPassword("alice", "R", "secret", c), required)
		if test.kind == 0 || err != nil {
			if test.kind != 0 || err == nil || len(req.PAData) != before {
				t.Errorf("%s: %d proofs, %v", test.name, len(req.PAData)-before, err)
			}
			continue
		}
		var proof types.EncryptedData
		if err := proof.Unmarshal(req.PAData[len(req.PAData)-1].PADataValue); err != nil {
			t.Fatal(err)
		}
		kind, err := crypto.GetEtype(test.kind)
		if err != nil {
			t.Fatal(err)
		}
		key, err := kind.StringToKey("secret", test.salt, test.iterations)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := crypto.DecryptEncPart(proof, types.EncryptionKey{KeyType: test.kind, KeyValue: key}, keyusage.AS_REQ_PA_ENC_TIMESTAMP); err != nil {
			t.Errorf("%s: another key: %v", test.name, err)
		}
	}
}

// TestLimitDerivation checks the derivation of the key for an answer.
func TestLimitDerivation(t *testing.T) {
	earlier := derivation{18, types.PADataSequence{element(t, entry(18, "earlier"))}}
	own := element(t, entry(18, "own"))
	older := types.PAData{PADataType: patype.PA_ETYPE_INFO, PADataValue: encode(t, types.ETypeInfo{{EType: 23}})}
	for _, c := range []struct {
		name string
		kind int32 // of the encrypted part
		list types.PADataSequence
		want int  // number of elements
		own  bool // the element of the answer
		ok   bool
	}{
		{"own element", 18, types.PADataSequence{own}, 1, true, true},
		{"own element and others", 18, types.PADataSequence{own, older}, 1, true, true},
		{"no element", 18, types.PADataSequence{older}, 1, false, true},
		{"no element, another type", 17, types.PADataSequence{older}, 0, false, true},
		{"element of another type", 17, types.PADataSequence{own}, 0, false, false},
		{"RC4", 23, types.PADataSequence{older}, 0, false, false},
		{"RC4 with AES in the element", 23, types.PADataSequence{own}, 0, false, false},
	} {
		var rep messages.ASRep
		rep.EncPart.EType, rep.PAData = c.kind, c.list
		err := limitDerivation(&rep, earlier)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.ok && (len(rep.PAData) != c.want || c.want == 1 && (string(rep.PAData[0].PADataValue) == string(own.PADataValue)) != c.own) {
			t.Errorf("%s: got %v", c.name, rep.PAData)
		}
	}
}

// TestWeakKDC checks that a KDC that requires a weak key gets no second request,
// and that the credentials are reported as the reason.
func TestWeakKDC(t *testing.T) {
	name := filepath.Join(t.TempDir(), "krb5.conf")
	if err := os.WriteFile(name, []byte("[libdefaults]\n default_realm = R\n[realms]\n R = {\n  kdc = a.test\n }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	service := types.NewPrincipalName(2, "krbtgt/R")
	for _, info := range []types.ETypeInfo2Entry{entry(23, "s"), entry(18, "s", 0, 0, 0, 1), entry(18, "s", 0, 0, 0, 0), entry(20, "s", 0, 0, 0x10, 0)} {
		message := messages.NewKRBError(service, "R", errorcode.KDC_ERR_PREAUTH_REQUIRED, "")
		message.EData = encode(t, types.PADataSequence{element(t, info)})
		answer, err := message.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		requests := 0
		dial := func(context.Context, string) (net.Conn, error) {
			requests++
			c, server := net.Pipe()
			go func() {
				defer server.Close()
				server.Read(make([]byte, 4096))
				server.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(answer))), answer...))
			}()
			return c, nil
		}
		a, err := New(Options{Config: name})
		if err != nil {
			t.Fatal(err)
		}
		_, err = a.Token(t.Context(), dial, "host.test", &fetch.Credential{User: "alice", Password: "secret"})
		if fetch.FaultOf(err) != fetch.Auth || requests != 1 {
			t.Errorf("%v: %d requests, %v", info, requests, err)
		}
	}
}
