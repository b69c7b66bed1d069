// Runs one JavaScript program of somebody else's in a process that can do nothing but compute and ask.
//
// The engine is Duktape 2, found at run time: nothing of it is needed to build, and a program that runs no script does not load it.
// Every call returns a result or a negated errno.
#ifndef CAUSEWAY_SCRIPT_H
#define CAUSEWAY_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Loads the engine, once per process. Returns NULL, or what is wrong and what to install; the text lives as long as the process.
const char *cw_script_load(void);

/// The same for a library of another name, without keeping anything: for tests. Returns false and a text in `message`.
bool cw_script_probe(const char *name, char *message, size_t capacity);

/// A piece of text, of any bytes.
typedef struct cw_script_text {
    const char *start;
    size_t length;
} cw_script_text;

enum {
    /// The most bytes of a message, either way; the first says what it is.
    CW_SCRIPT_MESSAGE_LIMIT = 16 << 10,
    /// What the engine may allocate.
    CW_SCRIPT_MEMORY = 16 << 20,
    /// Seconds of processor time.
    CW_SCRIPT_SECONDS = 2
};

/// Starts a process that evaluates `prelude`, which has to be a function, and calls it with `ask` and the arguments.
///
/// `ask(kind, text)` sends a message, and waits for the answer if `kind` is "Q". The string that the function returns is the last
/// message; an error that it throws becomes one of kind "F". The process is no child that `wait` or SIGCHLD would tell of.
///
/// `process` becomes a pidfd, readable when the process has ended, and `channel` a non-blocking socket that keeps messages apart; both
/// are the caller's to close. Load the engine before.
int cw_script_start(
    cw_script_text prelude, const cw_script_text *arguments, int count, int *process, int *channel);

/// Ends it at once.
void cw_script_kill(int process);

/// Takes away what is left of a process that has ended. Returns whether there is nothing left.
bool cw_script_reap(int process);

/// Seconds that local time is ahead of universal time, now.
long cw_script_time_offset(void);

#endif
