package mail

import (
	"context"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// Some servers do not store UIDVALIDITY. They send the time of the EXAMINE in
// its place, so that the value from a listing never matches again: mailutils
// always, and Courier until the first SELECT of a mailbox.

const (
	// recentTime is the largest difference between the clocks of the client and
	// the server at which the values of such a server are recognized.
	recentTime = 10 * time.Minute

	// examineInterval is longer than the unit of these values.
	examineInterval = 1100 * time.Millisecond
)

// isRecent reports whether a UIDVALIDITY may be the time at which the server
// received the EXAMINE. Courier sends only the last nine digits of the time.
func isRecent(validity uint32, now time.Time) bool {
	const digits = 1_000_000_000
	difference := (now.Unix()%digits - int64(validity%digits) + digits) % digits
	limit := int64(recentTime / time.Second)
	return difference <= limit || difference >= digits-limit
}

// validities stores the results of the checks of recent values of UIDVALIDITY, so
// that the driver opens each mailbox a second time only once.
type validities struct {
	volatile sync.Map // servers that do not store the value, by origin
	stable   sync.Map // mailboxes whose value is stored, by mailboxKey
}

// A mailboxKey identifies a mailbox with a UIDVALIDITY.
type mailboxKey struct {
	origin     fetch.Origin
	user, name string
	validity   uint32
}

func keyOf(q *task, m *mailbox) mailboxKey {
	k := mailboxKey{origin: q.target.Origin(), name: m.name, validity: m.validity}
	if q.creds.auth != nil {
		k.user = q.creds.auth.User
	}
	return k
}

// checkValidity opens the selected mailbox once more if its UIDVALIDITY is
// recent and matters for the task. If the server then sends another value,
// checkValidity discards the value.
func (s *session) checkValidity(ctx context.Context, q *task) error {
	m := s.mailbox
	matters := q.kind == kindMailbox || q.kind == kindSearch || q.validity != 0 && q.validity != m.validity
	if !matters || m.validity == 0 || !isRecent(m.validity, time.Now()) {
		return nil
	}
	key := keyOf(q, m)
	if _, ok := s.validities.stable.Load(key); ok {
		return nil
	}
	_, volatile := s.validities.volatile.Load(key.origin)
	if !volatile {
		again, err := s.openAgain(ctx, m)
		if err != nil {
			return err
		}
		if again.validity == m.validity {
			s.validities.stable.Store(key, true)
			return nil
		}
		s.validities.volatile.Store(key.origin, true)
		s.Trace().Notef("server assigns a new UIDVALIDITY whenever a mailbox is opened: UIDs may change")
	}
	s.mailbox.validity, s.mailbox.volatile = 0, true
	return nil
}

// openAgain opens the selected mailbox after examineInterval.
func (s *session) openAgain(ctx context.Context, m *mailbox) (*mailbox, error) {
	wait := time.NewTimer(examineInterval)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	s.mailbox = nil
	again, err := s.openMailbox(m.name)
	s.mailbox = again
	return again, err
}

// validityError returns the error for a UIDVALIDITY in the URL that is not the
// one of the mailbox.
func (m *mailbox) validityError(q *task) error {
	if m.volatile {
		return fetch.NotFound.Errorf("server assigns a new UIDVALIDITY whenever the mailbox is opened: "+
			"remove ;UIDVALIDITY=%d from the URL to accept any message with this UID", q.validity)
	}
	return fetch.NotFound.Errorf("UIDVALIDITY of the mailbox is %d, not %d: its messages have new UIDs", m.validity, q.validity)
}
