// File change notifications (inotify(7)), whose variable-length records Swift cannot import.
#ifndef CAUSEWAY_WATCH_H
#define CAUSEWAY_WATCH_H

#include <stdbool.h>
#include <stddef.h>

/// Opens a non-blocking, close-on-exec descriptor that becomes readable after a change.
int cw_watch_open(void);
/// Watches the content of a file, or the names in a directory.
int cw_watch_add(int fd, const char *path, bool is_directory);
/// Reads the pending events. Returns 1 if one concerns a watched file, or one of `names` in a watched directory; otherwise 0.
int cw_watch_drain(int fd, const char *const *names, int count);
/// Resolves symbolic links. Returns the length of the path, or a negated errno.
int cw_real_path(const char *path, char *out, size_t capacity);

#endif
