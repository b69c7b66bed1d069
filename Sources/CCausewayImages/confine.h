#ifndef CAUSEWAY_IMAGES_CONFINE_H
#define CAUSEWAY_IMAGES_CONFINE_H

/// Restricts this process to its memory, some processor time, and reads and writes on standard input. Call it when all libraries are loaded.
///
/// Returns NULL, or the name of the step that failed.
const char *cw_image_confine(unsigned long memory_in_mebibytes, unsigned long seconds);

#endif
