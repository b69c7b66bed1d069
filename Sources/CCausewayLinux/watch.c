#define _GNU_SOURCE
#include "watch.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

int cw_watch_open(void) {
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int cw_watch_add(int fd, const char *path, bool is_directory) {
    // The masks report changes by editors that replace a file, and by programs that write into it. They also report
    // changed symbolic links.
    unsigned mask = is_directory ? IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | IN_CLOSE_WRITE | IN_ONLYDIR
                                 : IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;
    return inotify_add_watch(fd, path, mask) < 0 ? -errno : 0;
}

int cw_watch_drain(int fd, const char *const *names, int count) {
    char buffer[8192] __attribute__((aligned(__alignof__(struct inotify_event))));
    int concerned = 0;
    for (;;) {
        ssize_t length = read(fd, buffer, sizeof buffer);
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) return concerned;
        for (char *p = buffer; p < buffer + length;) {
            const struct inotify_event *event = (const struct inotify_event *)p;
            // An event without a name concerns the watched file itself, or reports that the event queue overflowed.
            if (event->len == 0) concerned = 1;
            for (int i = 0; i < count && event->len > 0; i++)
                if (strcmp(event->name, names[i]) == 0) concerned = 1;
            p += sizeof *event + event->len;
        }
    }
}

int cw_real_path(const char *path, char *out, size_t capacity) {
    char resolved[PATH_MAX];
    if (!realpath(path, resolved)) return -errno;
    size_t length = strlen(resolved);
    if (length >= capacity) return -ENAMETOOLONG;
    memcpy(out, resolved, length + 1);
    return (int)length;
}
