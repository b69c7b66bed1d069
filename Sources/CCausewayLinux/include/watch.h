// Watching files for changes (inotify(7)), whose records have a tail that Swift does not import.
#ifndef CAUSEWAY_WATCH_H
#define CAUSEWAY_WATCH_H

#include <stdbool.h>
#include <stddef.h>

/// A non-blocking, close-on-exec descriptor that becomes readable when something watched changes.
int cw_watch_open(void);
/// Watches a file's content, or the names in a directory.
int cw_watch_add(int fd, const char *path, bool is_directory);
/// Takes what has happened. Returns 1 if it concerns a watched file, or one of `names` in a watched directory; 0 otherwise.
int cw_watch_drain(int fd, const char *const *names, int count);
/// The path without symbolic links. Returns its length, or a negated errno.
int cw_real_path(const char *path, char *out, size_t capacity);

#endif
