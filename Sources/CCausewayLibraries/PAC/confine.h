#ifndef CAUSEWAY_CONFINE_H
#define CAUSEWAY_CONFINE_H

/// Restricts this process to its memory, some seconds of processor time, and reads and writes on `*channel`. The function may change the
/// number of this descriptor.
///
/// Returns NULL, or the name of the step that failed. Makes system calls only.
const char *cw_confine(int *channel, unsigned seconds);

#endif
