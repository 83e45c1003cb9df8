// Package sshagent connects to the SSH agent of the user. The agent holds
// private keys and listens on a Unix socket of this machine.
package sshagent

import (
	"net"
	"os"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// limit is the maximum duration of all requests on one connection. It is long,
// because the agent may wait for the user to confirm the use of a key.
const limit = 2 * time.Minute

// An Agent is a connection to an SSH agent.
type Agent struct{ conn net.Conn }

// Open connects to the agent whose socket is named by the environment variable
// SSH_AUTH_SOCK. It returns nil if there is no agent.
func Open() *Agent {
	path := os.Getenv("SSH_AUTH_SOCK")
	if path == "" {
		return nil
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err != nil {
		return nil
	}
	conn.SetDeadline(time.Now().Add(limit))
	return &Agent{conn}
}

// Signers returns the keys of the agent.
func (a *Agent) Signers() ([]ssh.Signer, error) { return agent.NewClient(a.conn).Signers() }

// Close closes the connection.
func (a *Agent) Close() error { return a.conn.Close() }
