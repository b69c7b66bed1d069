#ifndef CAUSEWAY_CONFINE_H
#define CAUSEWAY_CONFINE_H

/// Leaves this process nothing but its memory, some seconds of its processor, and reading and writing `*channel`, whose number may change.
///
/// Returns NULL, or the name of what failed. Calls the kernel only.
const char *cw_confine(int *channel, unsigned seconds);

#endif
