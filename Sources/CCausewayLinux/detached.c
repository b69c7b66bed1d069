#define _GNU_SOURCE
#include "detached.h"
#include "orphans.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <syslog.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { piece_length = 64 << 10, maximum_text = 256 };

struct start {
    const char *path;
    char *const *arguments;
    char *const *environment;
};

// Closes all files except the standard streams. Otherwise the new program would keep files such as listening sockets
// open after the process that started it has ended.
static void close_files(void) {
    struct rlimit limit;
    if (syscall(SYS_close_range, 3u, ~0u, 0u) == 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    int end = limit.rlim_cur < (1 << 20) ? (int)limit.rlim_cur : 1 << 20;
    for (int file = 3; file < end; file++) close(file);
}

static int run(void *context) {
    struct start *start = context;
    struct sigaction standard = {.sa_handler = SIG_DFL};
    // Reset all signals: an ignored signal would stay ignored in the new program.
    for (int number = 1; number < NSIG; number++) sigaction(number, &standard, NULL);
    umask(077);
    int nothing = open("/dev/null", O_RDWR);
    if (nothing >= 0 && chdir("/") == 0 && dup2(nothing, 0) == 0 && dup2(nothing, 1) == 1 && dup2(nothing, 2) == 2) {
        close_files();
        execve(start->path, start->arguments, start->environment);
    }
    return errno;
}

int cw_detached_start(const char *path, char *const *arguments, char *const *environment) {
    if (getauxval(AT_SECURE) != 0) return -EPERM;
    struct start start = {path, arguments, environment};
    return cw_orphan_start(run, &start, true, NULL);
}

static int contains(int file, const char *text) {
    char buffer[piece_length + maximum_text];
    size_t length = strlen(text), kept = 0;
    if (length == 0 || length > maximum_text) return 0;
    for (;;) {
        ssize_t count = read(file, buffer + kept, piece_length);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return 0;
        size_t total = kept + (size_t)count;
        if (memmem(buffer, total, text, length) != NULL) return 1;
        // The searched text can begin in this piece of the file and end in the next one. So keep the last bytes of this
        // piece.
        kept = total < length - 1 ? total : length - 1;
        memmove(buffer, buffer + total - kept, kept);
    }
}

int cw_program_contains(const char *path, const char *text) {
    struct stat facts;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return 0;
    int result = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && (facts.st_uid == geteuid() || facts.st_uid == 0)
        && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0 && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 && contains(file, text);
    close(file);
    return result;
}

void cw_log_note(const char *text) { syslog(LOG_USER | LOG_INFO, "causeway: %s", text); }
