// Processes that are no children of this one. Not part of the module.
#ifndef CAUSEWAY_ORPHANS_H
#define CAUSEWAY_ORPHANS_H

#include <stdbool.h>

/// Runs a function in a new process that belongs to the system: `wait` of this program does not report it, and its end sends no SIGCHLD.
///
/// The function has a stack in the memory of the caller, whose thread waits until the process runs a program. It makes system calls only, has
/// copies of all descriptors, and returns an errno when it fails. `leaves_session` starts a session without a terminal. Unless `process` is
/// NULL it receives a descriptor of the process. Returns 0 or a negated errno.
int cw_orphan_start(int (*function)(void *), void *context, bool leaves_session, int *process);

#endif
