// Processes that work for this one: each has one socket and no other file.
#ifndef CAUSEWAY_WORKERS_H
#define CAUSEWAY_WORKERS_H

#include <stddef.h>

/// Starts a program with a socket as its standard input, and nothing as its output. The environment holds only LD_LIBRARY_PATH.
///
/// The program is no child that `wait` reports, and sends no SIGCHLD. `*process` receives a descriptor of the process, `*channel` the other
/// end of the socket, which does not block. Returns 0 or a negated errno. `arguments` ends with NULL.
int cw_worker_start(const char *path, char *const *arguments, int *process, int *channel);

/// Ends a process and waits until it is gone.
void cw_worker_end(int process);

/// Ends a process. Any thread may call this while the descriptor is open.
void cw_worker_kill(int process);

/// Sends bytes without SIGPIPE. Returns what `send` returns, with `errno`.
long cw_worker_send(int channel, const void *bytes, size_t count);

#endif
