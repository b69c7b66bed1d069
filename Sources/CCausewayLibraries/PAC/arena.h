// Memory for a process that must not call malloc. When the process was cloned, another thread may have held malloc's
// lock.
#ifndef CAUSEWAY_ARENA_H
#define CAUSEWAY_ARENA_H

#include <stdbool.h>
#include <stddef.h>

enum { CW_ARENA_CLASSES = 80 };

typedef struct cw_arena {
    char *next, *end;
    /// Freed blocks, by size class.
    void *given_back[CW_ARENA_CLASSES];
    /// A request failed because the arena was full.
    bool was_too_small;
} cw_arena;

void cw_arena_begin(cw_arena *arena, void *start, size_t length);
void *cw_arena_take(void *arena, size_t size);
void *cw_arena_resize(void *arena, void *block, size_t size);
void cw_arena_give_back(void *arena, void *block);

#endif
