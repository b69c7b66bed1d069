// Runs one untrusted JavaScript program in a process that can only compute and send requests to this process.
//
// The engine is Duktape 2, loaded at run time: it is not needed to build, and a program that runs no script does not load it. Every call
// returns a result or a negated errno.
#ifndef CAUSEWAY_SCRIPT_H
#define CAUSEWAY_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Loads the engine, once per process. Returns NULL, or a text with the error and the package to install. The text stays valid.
const char *cw_script_load(void);

/// For tests: loads a library with another name, but does not use it. On failure, returns false with a text in
/// `message`.
bool cw_script_probe(const char *name, char *message, size_t capacity);

/// Text as bytes with a length. It may contain any bytes, including zero.
typedef struct cw_script_text {
    const char *start;
    size_t length;
} cw_script_text;

enum {
    /// Maximum size of one message in bytes, in either direction. The first byte is the kind of the message.
    CW_SCRIPT_MESSAGE_LIMIT = 16 << 10,
    /// Maximum memory of the engine, in bytes.
    CW_SCRIPT_MEMORY = 16 << 20,
    /// Maximum processor time, in seconds.
    CW_SCRIPT_SECONDS = 2
};

/// Starts a process that evaluates `prelude`, which must be a function, and calls it with `ask` and the arguments.
///
/// `ask(kind, text)` sends a message. If `kind` is "Q", it also waits for the reply and returns it. The string that the function returns is
/// the last message; a thrown error becomes a message of kind "F". `wait` and SIGCHLD do not report the process.
///
/// `process` becomes a pidfd, which is readable after the process has ended. `channel` becomes a non-blocking socket that preserves message
/// boundaries. The caller closes both. Load the engine first.
int cw_script_start(
    cw_script_text prelude, const cw_script_text *arguments, int count, int *process, int *channel);

/// Kills the process.
void cw_script_kill(int process);

/// Reaps a process that has ended. Returns false while it still runs.
bool cw_script_reap(int process);

/// The current offset of local time from UTC, in seconds.
long cw_script_time_offset(void);

#endif
