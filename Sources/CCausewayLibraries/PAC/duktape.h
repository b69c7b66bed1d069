// Declares the functions of Duktape 2 (libduktape.so.207) that this library uses. The prototypes are our own. See
// https://duktape.org/api.
#ifndef CAUSEWAY_DUKTAPE_H
#define CAUSEWAY_DUKTAPE_H

#include <stddef.h>
#include <stdint.h>

typedef struct duk_hthread duk_context;
typedef int (*cw_duk_function)(duk_context *);
typedef void *(*cw_duk_alloc)(void *, size_t);
typedef void *(*cw_duk_realloc)(void *, void *, size_t);
typedef void (*cw_duk_free)(void *, void *);
typedef void (*cw_duk_fatal)(void *, const char *);

// Flags of `duk_compile_raw`. The lowest three bits are the number of its arguments on the stack.
enum { CW_DUK_EVAL = 1 << 3, CW_DUK_SAFE = 1 << 7, CW_DUK_NO_SOURCE = 1 << 9 };

#define CW_DUK_FUNCTIONS(F) \
    F(duk_context *, duk_create_heap, (cw_duk_alloc, cw_duk_realloc, cw_duk_free, void *, cw_duk_fatal)) \
    F(int, duk_compile_raw, (duk_context *, const char *, size_t, unsigned)) \
    F(int, duk_pcall, (duk_context *, int)) \
    F(int, duk_push_c_function, (duk_context *, cw_duk_function, int)) \
    F(const char *, duk_push_lstring, (duk_context *, const char *, size_t)) \
    F(const char *, duk_safe_to_lstring, (duk_context *, int, size_t *))

typedef struct cw_duk_table {
#define CW_DUK_FIELD(result, name, parameters) result (*name) parameters;
    CW_DUK_FUNCTIONS(CW_DUK_FIELD)
#undef CW_DUK_FIELD
} cw_duk_table;

/// Pointers to the functions of Duktape. Valid after the library is loaded, and constant from then on.
extern cw_duk_table cw_duk;

#endif
