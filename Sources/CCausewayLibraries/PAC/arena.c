#include "arena.h"

#include <stdint.h>
#include <string.h>

// A memory allocator with size classes: multiples of 16 bytes up to 256 bytes, then four classes for each power of two. A freed block is
// reused for the next request of its class. The number of the class is stored before each block.
static const size_t largest = (size_t)1 << 24;
enum { header = 8 };

static unsigned class_of(size_t size) {
    if (size <= 256) return (unsigned)((size + 15) / 16) - 1;
    unsigned power = 63 - (unsigned)__builtin_clzll((unsigned long long)size - 1);
    return 16 + (power - 8) * 4 + (unsigned)(((size - 1) >> (power - 2)) & 3);
}

static size_t size_of(unsigned class) {
    if (class < 16) return (class + 1) * 16;
    unsigned power = 8 + (class - 16) / 4;
    return ((size_t)1 << power) + ((size_t)((class - 16) % 4) + 1) * ((size_t)1 << (power - 2));
}

static unsigned class_at(void *block) { return *(uint32_t *)((char *)block - header); }

void cw_arena_begin(cw_arena *arena, void *start, size_t length) {
    memset(arena, 0, sizeof *arena);
    arena->next = start;
    arena->end = (char *)start + length;
}

void *cw_arena_take(void *opaque, size_t size) {
    cw_arena *arena = opaque;
    if (size > largest) arena->was_too_small = true;
    if (size == 0 || size > largest) return NULL;
    unsigned class = class_of(size);
    void *block = arena->given_back[class];
    if (block != NULL) {
        arena->given_back[class] = *(void **)block;
        return block;
    }
    size_t whole = size_of(class) + header;
    if ((size_t)(arena->end - arena->next) < whole) {
        arena->was_too_small = true;
        return NULL;
    }
    block = arena->next + header;
    *(uint32_t *)arena->next = class;
    arena->next += whole;
    return block;
}

void cw_arena_give_back(void *opaque, void *block) {
    cw_arena *arena = opaque;
    if (block == NULL) return;
    unsigned class = class_at(block);
    *(void **)block = arena->given_back[class];
    arena->given_back[class] = block;
}

void *cw_arena_resize(void *arena, void *block, size_t size) {
    if (block == NULL) return cw_arena_take(arena, size);
    if (size == 0) {
        cw_arena_give_back(arena, block);
        return NULL;
    }
    size_t known = size_of(class_at(block));
    if (size <= largest && class_of(size) == class_at(block)) return block;
    void *other = cw_arena_take(arena, size);
    if (other == NULL) return NULL;
    memcpy(other, block, size < known ? size : known);
    cw_arena_give_back(arena, block);
    return other;
}
