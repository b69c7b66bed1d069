#ifndef CAUSEWAY_CONFINE_H
#define CAUSEWAY_CONFINE_H

/// Restricts this process to its memory, some seconds of processor time, and reads and writes on `*channel`.
///
/// The function may change the descriptor number in `*channel`. It makes only system calls. Returns NULL, or the name
/// of the step that failed.
const char *cw_confine(int *channel, unsigned seconds);

#endif
