#define _GNU_SOURCE
#include "run.h"
#include "arena.h"
#include "confine.h"
#include "duktape.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// The code in this file runs in a cloned process. The clone has only the thread that made it. If another thread held a
// lock, no thread in the clone releases this lock. So the code must not take locks, and may allocate memory only from
// the arena.

static cw_arena arena;
static int channel;
static char message[CW_SCRIPT_MESSAGE_LIMIT];

static void leave(void) {
    for (;;) syscall(SYS_exit_group, 0);
}

static size_t shorter(size_t one, size_t other) { return one < other ? one : other; }

static void say(const char *kind, const char *text, size_t length) {
    size_t count = shorter(length, sizeof message - 1);
    message[0] = kind[0];
    memcpy(message + 1, text, count);
    long result;
    do result = syscall(SYS_write, channel, message, count + 1);
    while (result < 0 && errno == EINTR);
    if (result < 0) leave();
}

static void give_up(void *unused, const char *reason) {
    (void)unused;
    if (reason == NULL) reason = "the engine failed";
    say("F", reason, strlen(reason));
    leave();
}

static int ask(duk_context *context) {
    size_t kind_length = 0, length = 0;
    const char *kind = cw_duk.duk_safe_to_lstring(context, 0, &kind_length);
    const char *text = cw_duk.duk_safe_to_lstring(context, 1, &length);
    if (kind_length == 0) return 0;
    say(kind, text, length);
    if (kind[0] != 'Q') return 0;
    long count;
    do count = syscall(SYS_read, channel, message, sizeof message);
    while (count < 0 && errno == EINTR);
    // The parent process has closed the channel.
    if (count <= 0) leave();
    cw_duk.duk_push_lstring(context, message + 1, (size_t)count - 1);
    return 1;
}

static int evaluate(duk_context *context, const cw_script_job *job) {
    static const char name[] = "prelude";
    cw_duk.duk_push_lstring(context, name, sizeof name - 1);
    unsigned flags = 1 | CW_DUK_EVAL | CW_DUK_SAFE | CW_DUK_NO_SOURCE;
    int status = cw_duk.duk_compile_raw(context, job->prelude.start, job->prelude.length, flags);
    if (status == 0) status = cw_duk.duk_pcall(context, 0);
    if (status != 0) return status;
    cw_duk.duk_push_c_function(context, ask, 2);
    for (int i = 0; i < job->count; i++)
        cw_duk.duk_push_lstring(context, job->arguments[i].start, job->arguments[i].length);
    return cw_duk.duk_pcall(context, job->count + 1);
}

int cw_script_run(void *opaque) {
    const cw_script_job *job = opaque;
    channel = job->channel;
    const char *problem = cw_confine(&channel, CW_SCRIPT_SECONDS);
    if (problem != NULL) {
        say("C", problem, strlen(problem));
        leave();
    }
    cw_arena_begin(&arena, job->heap, CW_SCRIPT_MEMORY);
    duk_context *context = cw_duk.duk_create_heap(cw_arena_take, cw_arena_resize, cw_arena_give_back, &arena, give_up);
    if (context == NULL) give_up(NULL, "no memory for the engine");
    int status = evaluate(context, job);
    size_t length = 0;
    const char *text = cw_duk.duk_safe_to_lstring(context, -1, &length);
    // If the engine has run out of memory, it cannot create a correct error message. So report this error from here.
    if (status != 0 && arena.was_too_small) give_up(NULL, "out of memory: a script has 16 MiB");
    if (status != 0) say("F", text, length);
    else if (length > 0) say(text, text + 1, length - 1);
    leave();
    return 0;
}
