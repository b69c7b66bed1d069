// Worker processes of this process. Each has one open socket and no other open file.
#ifndef CAUSEWAY_WORKERS_H
#define CAUSEWAY_WORKERS_H

#include <stddef.h>

/// Starts a program. Its standard input is a socket, and its output is /dev/null. Its environment contains only
/// LD_LIBRARY_PATH.
///
/// `wait` does not report the program, and its end sends no SIGCHLD. `arguments` ends with NULL.
///
/// Stores a descriptor of the process in `*process`, and the other end of the socket in `*channel`. That end does not
/// block. Returns 0 or a negated errno.
int cw_worker_start(const char *path, char *const *arguments, int *process, int *channel);

/// Ends a process and waits until it is gone.
void cw_worker_end(int process);

/// Ends a process. Any thread may call this while the descriptor is open.
void cw_worker_kill(int process);

/// Sends bytes without SIGPIPE. Returns what `send` returns, with `errno`.
long cw_worker_send(int channel, const void *bytes, size_t count);

#endif
