#include "causeway_linux.h"
#include <pthread.h>
#include <stdlib.h>

static _Thread_local void *scratch;
static _Thread_local void *words[2];
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_key(void) { pthread_key_create(&key, free); }

void *cw_scratch(void) {
    if (scratch) return scratch;
    pthread_once(&once, make_key);
    scratch = malloc(CW_SCRATCH_SIZE);
    if (!scratch) abort();
    // Register this block for the key. When the thread ends, the C library passes it to `free`, the key's destructor.
    pthread_setspecific(key, scratch);
    return scratch;
}

void *cw_take_scratch(void) {
    void *taken = cw_scratch();
    scratch = NULL;
    pthread_setspecific(key, NULL);
    return taken;
}

void *cw_thread_word(int slot) { return words[slot & 1]; }
void cw_set_thread_word(int slot, void *word) { words[slot & 1] = word; }

// Functions of the Swift runtime. They are called directly, because the library's API would also retain and copy the
// task.
//
// They are weak symbols, because the image decoder links this file without the Swift runtime. The decoder does not call
// them.
__attribute__((swiftcall, weak)) void *swift_task_getCurrent(void);
__attribute__((swiftcall, weak)) bool swift_task_isCancelled(void *task);

void *cw_current_task(void) { return swift_task_getCurrent(); }
bool cw_task_is_cancelled(void *task) { return swift_task_isCancelled(task); }

void cw_fetch(const void *start, size_t length) {
    enum { LINE = 64 };
    for (size_t offset = 0; offset < length; offset += LINE) __builtin_prefetch((const char *)start + offset);
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CW_SANITIZES_THREADS 1
#endif
#endif

#ifdef CW_SANITIZES_THREADS
void __tsan_acquire(void *address);
void __tsan_release(void *address);
void cw_lock_acquired(const void *lock) { __tsan_acquire((void *)lock); }
void cw_lock_releasing(const void *lock) { __tsan_release((void *)lock); }
#else
void cw_lock_acquired(const void *lock) { (void)lock; }
void cw_lock_releasing(const void *lock) { (void)lock; }
#endif
