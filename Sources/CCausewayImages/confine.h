#ifndef CAUSEWAY_IMAGES_CONFINE_H
#define CAUSEWAY_IMAGES_CONFINE_H

/// Restricts what this process may do from now on. It may use only its memory and some processor time, and it may only
/// read and write on standard input. Call it when all libraries are loaded.
///
/// Returns NULL, or the name of the step that failed.
const char *cw_image_confine(unsigned long memory_in_mebibytes, unsigned long seconds);

#endif
