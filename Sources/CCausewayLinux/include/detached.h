// Starts programs that continue to run after this process has ended.
#ifndef CAUSEWAY_DETACHED_H
#define CAUSEWAY_DETACHED_H

/// Starts a program that outlives this process. The program runs in a session without a terminal, in the root
/// directory, and with default signal handling. Its standard streams are /dev/null, and it has no other file of this
/// process.
///
/// The program is not a child of this process: this process need not wait for it, and gets no SIGCHLD when it ends.
/// Returns 0 or a negated errno. The error is EPERM if this process has more rights than its user, because its
/// environment is then not trusted. Both lists end with NULL.
int cw_detached_start(const char *path, char *const *arguments, char *const *environment);

/// Returns 1 if a file is an executable program that contains `text`, and if only the superuser and the user of this
/// process can change the file. Otherwise returns 0. The text has at most 256 bytes.
int cw_program_contains(const char *path, const char *text);

/// Writes a line to the system's log (syslog, level info).
void cw_log_note(const char *text);

#endif
