package negotiate

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/types"
)

// parseCache parses a cache of kinit, whose format is that of the type FILE in MIT
// Kerberos. The parser of gokrb5 allocates memory for each number of addresses,
// and reads beyond the end of a truncated file.
func parseCache(text []byte) (*credentials.CCache, error) {
	if len(text) < 2 || text[0] != 5 || text[1] < 1 || text[1] > 4 {
		return nil, errors.New("no cache of kinit")
	}
	r := &cacheReader{rest: text[2:], version: text[1], order: binary.BigEndian}
	if r.version < 3 {
		r.order = binary.NativeEndian
	}
	if r.version == 4 {
		r.bytes(uint32(r.uint16())) // header
	}
	all := new(credentials.CCache)
	all.DefaultPrincipal.Realm, all.DefaultPrincipal.PrincipalName = r.name()
	for len(r.rest) > 0 {
		all.Credentials = append(all.Credentials, r.credential())
	}
	if r.damaged {
		return nil, errors.New("damaged cache of kinit")
	}
	return all, nil
}

// A cacheReader reads a cache of kinit.
type cacheReader struct {
	rest    []byte
	version byte
	order   binary.ByteOrder
	damaged bool // a value was longer than the rest
}

// bytes returns the next n bytes. If the rest is shorter, it returns nil, and the
// rest is empty.
func (r *cacheReader) bytes(n uint32) []byte {
	if uint64(n) > uint64(len(r.rest)) {
		r.rest, r.damaged = nil, true
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

func (r *cacheReader) uint16() uint16 {
	if b := r.bytes(2); b != nil {
		return r.order.Uint16(b)
	}
	return 0
}

func (r *cacheReader) uint32() uint32 {
	if b := r.bytes(4); b != nil {
		return r.order.Uint32(b)
	}
	return 0
}

// data returns bytes that follow their number.
func (r *cacheReader) data() []byte { return r.bytes(r.uint32()) }

// name returns the name of a user or of a service, with its realm.
func (r *cacheReader) name() (realm string, name types.PrincipalName) {
	if r.version != 1 {
		name.NameType = int32(r.uint32())
	}
	n := r.uint32()
	if r.version == 1 { // includes the realm
		n = max(n, 1) - 1
	}
	realm = string(r.data())
	for ; n > 0 && !r.damaged; n-- {
		name.NameString = append(name.NameString, string(r.data()))
	}
	return realm, name
}

// credential returns a ticket with its key. Fields that are not used are skipped.
func (r *cacheReader) credential() *credentials.Credential {
	c := new(credentials.Credential)
	c.Client.Realm, c.Client.PrincipalName = r.name()
	c.Server.Realm, c.Server.PrincipalName = r.name()
	c.Key.KeyType = int32(int16(r.uint16()))
	if r.version == 3 { // has the type twice
		r.uint16()
	}
	c.Key.KeyValue = r.data()
	r.bytes(8) // times of the authentication and of the start
	c.EndTime = time.Unix(int64(int32(r.uint32())), 0)
	r.bytes(4 + 1 + 4) // end of the renewal, flags
	for range 2 {      // addresses, authorization data
		for n := r.uint32(); n > 0 && !r.damaged; n-- {
			r.uint16()
			r.data()
		}
	}
	c.Ticket = r.data()
	r.data() // second ticket
	return c
}
