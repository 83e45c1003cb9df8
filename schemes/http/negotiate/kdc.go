package negotiate

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"time"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/patype"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/anyurl/fetch/fetch"
)

// Limits of files and of the answers of a KDC.
const (
	maxFile   = 1 << 20
	maxAnswer = 128 << 10 // tickets of Windows can have 64 KiB
	kdcTime   = 10 * time.Second
)

// A kdc is the key distribution center of a realm, which may have several
// servers.
type kdc struct {
	config *config.Config
	realm  string
	dial   dialer
	ctx    context.Context
}

// authenticate requests the ticket with which other tickets are requested.
func (k *kdc) authenticate(user *client.Client) (ticket, error) {
	if !user.Credentials.HasKeytab() && user.Credentials.Password() == "" {
		return ticket{}, fetch.Auth.Errorf("no valid ticket for %s@%s: run kinit", user.Credentials.UserName(), k.realm)
	}
	req, err := messages.NewASReqForTGT(k.realm, k.config, user.Credentials.CName())
	if err != nil {
		return ticket{}, fetch.Usage.With(err)
	}
	answer, err := k.exchange(&req)
	var required messages.KRBError
	var used derivation
	if errors.As(err, &required) && required.ErrorCode == errorcode.KDC_ERR_PREAUTH_REQUIRED {
		if used, err = addProof(&req, user, required); err != nil {
			return ticket{}, fetch.Auth.Errorf("Kerberos: %w", err)
		}
		answer, err = k.exchange(&req)
	}
	if err != nil {
		return ticket{}, kdcFault(err)
	}
	var rep messages.ASRep
	if err = rep.Unmarshal(answer); err == nil {
		err = limitDerivation(&rep, used)
	}
	if err == nil {
		_, err = rep.Verify(k.config, user.Credentials, req)
	}
	if err != nil {
		return ticket{}, fetch.Auth.Errorf("Kerberos: answer of the KDC: %w", err)
	}
	part := rep.DecryptedEncPart
	return ticket{user, rep.Ticket, part.Key, part.EndTime}, nil
}

// addProof adds the encrypted time to a request, which proves that the user has
// the key. It returns the derivation of the key.
func addProof(req *messages.ASReq, user *client.Client, required messages.KRBError) (derivation, error) {
	var list types.PADataSequence
	if err := list.Unmarshal(required.EData); err != nil {
		return derivation{}, err
	}
	d, err := readDerivation(list, derivation{kind: etypeID.AES256_CTS_HMAC_SHA1_96})
	if err != nil {
		return derivation{}, err
	}
	key, version, err := d.key(user)
	if err != nil {
		return derivation{}, err
	}
	now, err := types.GetPAEncTSEncAsnMarshalled()
	if err != nil {
		return derivation{}, err
	}
	encrypted, err := crypto.GetEncryptedData(now, key, keyusage.AS_REQ_PA_ENC_TIMESTAMP, version)
	if err != nil {
		return derivation{}, err
	}
	b, err := encrypted.Marshal()
	req.PAData = append(req.PAData, types.PAData{PADataType: patype.PA_ENC_TIMESTAMP, PADataValue: b})
	return d, err
}

// request requests the ticket for a service.
func (k *kdc) request(user *client.Client, first ticket, service types.PrincipalName) (ticket, error) {
	req, err := messages.NewTGSReq(user.Credentials.CName(), k.realm, k.config, first.ticket, first.key, service, false)
	if err != nil {
		return ticket{}, fetch.Auth.Errorf("Kerberos: %w", err)
	}
	answer, err := k.exchange(&req)
	if err != nil {
		return ticket{}, kdcFault(err)
	}
	var rep messages.TGSRep
	if err = rep.Unmarshal(answer); err == nil {
		err = rep.DecryptEncPart(first.key)
	}
	if err == nil {
		_, err = rep.Verify(k.config, req)
	}
	if err == nil && !rep.Ticket.SName.Equal(service) {
		err = errors.New("ticket for another service")
	}
	if err != nil {
		return ticket{}, fetch.Auth.Errorf("Kerberos: answer of the KDC: %w", err)
	}
	part := rep.DecryptedEncPart
	return ticket{user, rep.Ticket, part.Key, part.EndTime}, nil
}

// kdcFault classifies an error of an exchange. An error message of the KDC means
// that the credentials are rejected.
func kdcFault(err error) error {
	var rejected messages.KRBError
	if errors.As(err, &rejected) {
		return fetch.Auth.Errorf("Kerberos: the KDC answered: %s", errorcode.Lookup(rejected.ErrorCode))
	}
	return err
}

// exchange sends a request to the servers of the realm, one after the other, and
// returns the first answer. An error message is returned as a
// messages.KRBError.
func (k *kdc) exchange(req interface{ Marshal() ([]byte, error) }) ([]byte, error) {
	b, err := req.Marshal()
	if err != nil {
		return nil, fetch.Usage.With(err)
	}
	failed := error(fetch.Usage.Errorf("krb5.conf has no kdc for the realm %s", k.realm))
	for _, r := range k.config.Realms {
		if r.Realm != k.realm {
			continue
		}
		for _, addr := range addresses(r.KDC) {
			answer, err := k.send(addr, b)
			if err != nil {
				failed = fetch.FaultOf(err).Errorf("KDC %s: %w", addr, err)
				continue
			}
			var rejected messages.KRBError
			if rejected.Unmarshal(answer) == nil {
				return nil, rejected
			}
			return answer, nil
		}
	}
	return nil, failed
}

// send sends a request over TCP (RFC 4120 section 7.2.2) and reads the answer.
func (k *kdc) send(addr string, request []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(k.ctx, kdcTime)
	defer cancel()
	c, err := k.dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if err := c.SetDeadline(time.Now().Add(kdcTime)); err != nil {
		return nil, err
	}
	if _, err := c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(request))), request...)); err != nil {
		return nil, err
	}
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return nil, fetch.Connect.With(err)
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxAnswer {
		return nil, fetch.TooLarge.Errorf("answer of %d bytes", n)
	}
	answer := make([]byte, n)
	if _, err := io.ReadFull(c, answer); err != nil {
		return nil, fetch.Connect.With(err)
	}
	return answer, nil
}

// readFile returns the content of a small file. A missing name is no file.
func readFile(name string, open func(name string) (*os.File, error)) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	f, err := open(name)
	if err != nil {
		return nil, fetch.Local.With(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = errors.New("file is too large")
	}
	if err != nil {
		return nil, fetch.Local.Errorf("%s: %w", name, err)
	}
	return b, nil
}
