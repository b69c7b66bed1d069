// Worker processes of this process. Each has one open socket and no other open file.
#ifndef CAUSEWAY_WORKERS_H
#define CAUSEWAY_WORKERS_H

#include <stddef.h>

/// Starts a program with a socket as its standard input, and /dev/null as its output. Its environment contains only
/// LD_LIBRARY_PATH.
///
/// `wait` does not report the program, and its end sends no SIGCHLD. `*process` receives a descriptor of the process,
/// `*channel` the other end of the socket, which does not block. Returns 0 or a negated errno. `arguments` ends with
/// NULL.
int cw_worker_start(const char *path, char *const *arguments, int *process, int *channel);

/// Ends a process and waits until it is gone.
void cw_worker_end(int process);

/// Ends a process. Any thread may call this while the descriptor is open.
void cw_worker_kill(int process);

/// Sends bytes without SIGPIPE. Returns what `send` returns, with `errno`.
long cw_worker_send(int channel, const void *bytes, size_t count);

#endif
