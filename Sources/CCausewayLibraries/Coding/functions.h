// Declarations of the library functions in use. They belong to the libraries' stable interfaces: zlib 1.2 and 1.3,
// brotli 1, zstd 1.4 and later.
#ifndef CAUSEWAY_CODING_FUNCTIONS_H
#define CAUSEWAY_CODING_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

// MARK: zlib

typedef struct cw_zlib_stream {
    const uint8_t *next_in;
    unsigned avail_in;
    unsigned long total_in;
    uint8_t *next_out;
    unsigned avail_out;
    unsigned long total_out;
    const char *msg;
    void *state;
    void *(*zalloc)(void *, unsigned, unsigned);
    void (*zfree)(void *, void *);
    void *opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
} cw_zlib_stream;

enum { CW_Z_OK = 0, CW_Z_STREAM_END = 1, CW_Z_NEED_DICT = 2, CW_Z_MEM_ERROR = -4, CW_Z_BUF_ERROR = -5 };
enum { CW_Z_NO_FLUSH = 0, CW_Z_SYNC_FLUSH = 2 };
enum { CW_Z_DEFAULT_COMPRESSION = -1, CW_Z_DEFLATED = 8, CW_Z_DEFAULT_STRATEGY = 0 };

// MARK: brotli

typedef struct cw_brotli_state cw_brotli_state;

enum { CW_BROTLI_ERROR = 0, CW_BROTLI_SUCCESS = 1 };

// MARK: zstd

typedef struct cw_zstd_context cw_zstd_context;

typedef struct cw_zstd_input {
    const void *src;
    size_t size;
    size_t pos;
} cw_zstd_input;

typedef struct cw_zstd_output {
    void *dst;
    size_t size;
    size_t pos;
} cw_zstd_output;

enum { CW_ZSTD_WINDOW_LOG_MAX = 100 };

// MARK: Tables

// clang-format off
#define CW_ZLIB_FUNCTIONS(F) \
    F(const char *, zlibVersion, (void)) \
    F(int, inflateInit2_, (cw_zlib_stream *, int, const char *, int)) \
    F(int, inflate, (cw_zlib_stream *, int)) \
    F(int, inflateReset, (cw_zlib_stream *)) \
    F(int, inflateResetKeep, (cw_zlib_stream *)) \
    F(int, inflateEnd, (cw_zlib_stream *)) \
    F(int, deflateInit2_, (cw_zlib_stream *, int, int, int, int, int, const char *, int)) \
    F(int, deflate, (cw_zlib_stream *, int)) \
    F(int, deflateEnd, (cw_zlib_stream *))

#define CW_BROTLI_FUNCTIONS(F) \
    F(cw_brotli_state *, BrotliDecoderCreateInstance, (void *(*)(void *, size_t), void (*)(void *, void *), void *)) \
    F(void, BrotliDecoderDestroyInstance, (cw_brotli_state *)) \
    F(int, BrotliDecoderDecompressStream, \
        (cw_brotli_state *, size_t *, const uint8_t **, size_t *, uint8_t **, size_t *)) \
    F(int, BrotliDecoderGetErrorCode, (const cw_brotli_state *)) \
    F(const char *, BrotliDecoderErrorString, (int))

#define CW_ZSTD_FUNCTIONS(F) \
    F(cw_zstd_context *, ZSTD_createDStream, (void)) \
    F(size_t, ZSTD_freeDStream, (cw_zstd_context *)) \
    F(size_t, ZSTD_initDStream, (cw_zstd_context *)) \
    F(size_t, ZSTD_DCtx_setParameter, (cw_zstd_context *, int, int)) \
    F(size_t, ZSTD_decompressStream, (cw_zstd_context *, cw_zstd_output *, cw_zstd_input *)) \
    F(unsigned, ZSTD_isError, (size_t)) \
    F(const char *, ZSTD_getErrorName, (size_t))
// clang-format on

#define CW_CODING_FIELD(result, name, parameters) result (*name) parameters;
typedef struct cw_zlib_table { CW_ZLIB_FUNCTIONS(CW_CODING_FIELD) } cw_zlib_table;
typedef struct cw_brotli_table { CW_BROTLI_FUNCTIONS(CW_CODING_FIELD) } cw_brotli_table;
typedef struct cw_zstd_table { CW_ZSTD_FUNCTIONS(CW_CODING_FIELD) } cw_zstd_table;
#undef CW_CODING_FIELD

/// Pointers to the functions of zlib, brotli and zstd. `cw_coding_load` sets them; they are constant from then on.
extern cw_zlib_table cw_zlib;
extern cw_brotli_table cw_brotli;
extern cw_zstd_table cw_zstd;

#endif
