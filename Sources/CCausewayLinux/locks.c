#define _GNU_SOURCE
#include "causeway_linux.h"
#include <errno.h>
#include <fcntl.h>

// A lock here belongs to an open file description, not to a process. Two descriptions exclude each other even in one
// process. A lock ends when the last descriptor of its description is closed. This also happens if the process is
// killed.
//
// A forked child has copies of its parent's descriptors until it calls exec. If the parent only closes its own
// descriptor, the copy in the child can keep the lock for some time. So release a lock with cw_unlock_file.

static struct flock whole_file(short type) {
    struct flock lock = {0};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    return lock;
}

static int set_lock(int descriptor, short type) {
    struct flock lock = whole_file(type);
    int result;
    do result = fcntl(descriptor, F_OFD_SETLK, &lock);
    while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : -errno;
}

int cw_lock_file(int descriptor) { return set_lock(descriptor, F_WRLCK); }

int cw_unlock_file(int descriptor) { return set_lock(descriptor, F_UNLCK); }

int cw_file_is_locked(int descriptor) {
    struct flock lock = whole_file(F_WRLCK);
    if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0) return -errno;
    return lock.l_type != F_UNLCK;
}
