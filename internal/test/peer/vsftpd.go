package peer

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Vsftpd starts the FTP server vsftpd (Debian vsftpd). It does not support MLST
// and MLSD, responds to FEAT before the login, and may send any address in PASV
// replies. The log contains all commands.
func Vsftpd(t TB, opts FTPOptions) *Server {
	t.Helper()
	program := Need(t, "vsftpd", "vsftpd")
	NeedRoot(t, "vsftpd")
	s := newServer(t)
	opts.encrypt(s)
	env := s.accounts(opts.Users)
	empty := filepath.Join(s.Dir, "empty")
	s.mkdir(empty, "")
	return s.start(func(base uint16) command {
		opts.listen(s, base)
		first, last := passive(base)
		lines := []string{
			"listen=YES", "background=NO", "session_support=NO", "seccomp_sandbox=NO",
			"listen_address=" + host, fmt.Sprintf("listen_port=%d", base),
			fmt.Sprintf("pasv_min_port=%d", first), fmt.Sprintf("pasv_max_port=%d", last),
			"anonymous_enable=YES", "anon_root=" + s.Root,
			"local_enable=YES", "pam_service_name=vsftpd", "delay_failed_login=0",
			"secure_chroot_dir=" + empty,
			"xferlog_enable=YES", "log_ftp_protocol=YES", "vsftpd_log_file=" + filepath.Join(s.Dir, "vsftpd.log"),
			fmt.Sprintf("anon_max_rate=%d", opts.Rate<<10), fmt.Sprintf("local_max_rate=%d", opts.Rate<<10),
			// vsftpd computes the transfer rate in 32-bit numbers. A block of
			// 64 KiB in less than 15 us causes an overflow, so that the pauses
			// become too short. A block of one page does not.
			"trans_chunk_size=4096",
		}
		if s.Cert != nil {
			lines = append(lines, "ssl_enable=YES", "allow_anon_ssl=YES", "ssl_ciphers=HIGH",
				"rsa_cert_file="+s.Cert.File, "rsa_private_key_file="+s.Cert.KeyFile,
				"force_local_logins_ssl=NO", "force_local_data_ssl=NO", "require_ssl_reuse=NO")
		}
		if opts.Implicit {
			lines = append(lines, "implicit_ssl=YES")
		}
		conf := s.config("vsftpd.conf", strings.Join(append(lines, opts.Config...), "\n")+"\n")
		return command{path: program, args: []string{conf}, env: env}
	})
}
