#define _GNU_SOURCE
#include "causeway_linux.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Renames a file on a file system without RENAME_NOREPLACE. For a moment, the file has both names. If the process is
// killed during this moment, both names remain.
static int link_and_remove(int directory, const char *from, const char *to) {
    if (linkat(directory, from, directory, to, 0) != 0) return -errno;
    unlinkat(directory, from, 0);
    return 0;
}

// Renames a file on a file system without hard links. Another process may create the name between the check and the
// rename.
static int look_and_rename(int directory, const char *from, const char *to) {
    struct stat facts;
    if (fstatat(directory, to, &facts, AT_SYMLINK_NOFOLLOW) == 0) return -EEXIST;
    return renameat(directory, from, directory, to) == 0 ? 0 : -errno;
}

int cw_rename_new(int directory, const char *from, const char *to) {
    // Call renameat2 by its number, because not every libc has the function.
    if (syscall(SYS_renameat2, directory, from, directory, to, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -errno;
    int result = link_and_remove(directory, from, to);
    if (result != -EPERM && result != -EOPNOTSUPP && result != -ENOSYS) return result;
    return look_and_rename(directory, from, to);
}
