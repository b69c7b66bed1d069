// Starts processes that are not children of this process. This header is internal: it is not part of the module.
#ifndef CAUSEWAY_ORPHANS_H
#define CAUSEWAY_ORPHANS_H

#include <stdbool.h>

/// Runs a function in a new process that is not a child of this one: `wait` does not report it, and its end sends no
/// SIGCHLD.
///
/// The function runs on a stack in the caller's memory, and the caller's thread waits until the process runs a program.
/// The function may only make system calls. It has copies of all descriptors, and returns an errno when it fails.
/// `leaves_session` starts a session without a terminal. Unless `process` is NULL, it receives a descriptor of the
/// process. Returns 0 or a negated errno.
int cw_orphan_start(int (*function)(void *), void *context, bool leaves_session, int *process);

#endif
