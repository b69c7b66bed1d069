// Decoders of content codings by zlib, brotli and zstd, and compression of messages by zlib. The libraries are loaded
// at run time. The build does not need them, and neither does a program that uses no such coding.
#ifndef CAUSEWAY_CODING_H
#define CAUSEWAY_CODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: Loading

typedef enum cw_coding_library { CW_LIBRARY_ZLIB, CW_LIBRARY_BROTLI, CW_LIBRARY_ZSTD } cw_coding_library;

/// Loads a library once per process. Any thread may call it.
///
/// Returns NULL on success, else an error message with the package to install. The text stays valid until the process
/// ends.
const char *cw_coding_load(cw_coding_library library);

/// Like `cw_coding_load` for a library with another name, but keeps nothing for later use. For tests.
///
/// Returns false and a text in `message` if the library or a function is missing.
bool cw_coding_probe(cw_coding_library library, const char *name, char *message, size_t capacity);

// MARK: Decoding

typedef enum cw_coding_format {
    CW_FORMAT_GZIP,
    CW_FORMAT_ZLIB,
    /// Deflate without a header (RFC 1951).
    CW_FORMAT_RAW_DEFLATE,
    CW_FORMAT_BROTLI,
    CW_FORMAT_ZSTD,
} cw_coding_format;

typedef enum cw_decoding {
    /// Decoding is not finished. The decoder needs more input or more output space.
    CW_DECODING_CONTINUES,
    /// The end of a gzip member, a zlib or brotli stream or a zstd frame.
    CW_DECODING_ENDED,
    /// The input is damaged or memory allocation failed. `cw_decoder_problem` has the reason.
    CW_DECODING_FAILED,
} cw_decoding;

/// A streaming decoder. Not thread-safe.
typedef struct cw_decoder cw_decoder;

/// Creates a decoder. Returns NULL if the library is not loaded or if memory allocation fails.
cw_decoder *cw_decoder_new(cw_coding_format format);
void cw_decoder_free(cw_decoder *decoder);

/// Prepares for another gzip member or zstd frame after CW_DECODING_ENDED. Returns false if that fails.
bool cw_decoder_restart(cw_decoder *decoder);

/// Decodes input.
///
/// Before the call, `*count` is the number of input bytes. After the call, it is the number of consumed bytes. Before
/// the call, `*capacity` is the size of the output space. After the call, it is the number of written bytes. After
/// CW_DECODING_FAILED, only `cw_decoder_problem` and `cw_decoder_free` may be called.
cw_decoding cw_decoder_step(cw_decoder *decoder, const uint8_t *input, size_t *count, uint8_t *output, size_t *capacity);

/// Returns the reason why decoding failed (CW_DECODING_FAILED). The text stays valid until the decoder is freed.
const char *cw_decoder_problem(const cw_decoder *decoder);

// MARK: Messages

/// A streaming compressor of DEFLATE data without a header (RFC 1951). Not thread-safe.
typedef struct cw_deflater cw_deflater;

/// Creates a compressor whose distances fit a window of 8 to 15 bits. Returns NULL if zlib is not loaded or if memory allocation fails.
cw_deflater *cw_deflater_new(int window_bits);
void cw_deflater_free(cw_deflater *deflater);

/// Compresses. The counts are as in `cw_decoder_step`. Returns false on failure.
///
/// With `flushes`, call the function until it leaves part of the output space unused. Then the output contains all
/// input so far, and ends at a byte boundary.
bool cw_deflater_step(
    cw_deflater *deflater, const uint8_t *input, size_t *count, uint8_t *output, size_t *capacity, bool flushes);

/// A streaming decompressor for DEFLATE data without headers. Several pieces of data may follow one another. Not
/// thread-safe.
typedef struct cw_inflater cw_inflater;

/// Creates a decompressor for a window of 8 to 15 bits. Returns NULL if zlib is not loaded or if memory allocation fails.
cw_inflater *cw_inflater_new(int window_bits);
void cw_inflater_free(cw_inflater *inflater);

/// Decompresses. The counts are as in `cw_decoder_step`. Returns false if the input is damaged; afterwards only `cw_inflater_problem` and
/// `cw_inflater_free` may be called.
bool cw_inflater_step(
    cw_inflater *inflater, const uint8_t *input, size_t *count, uint8_t *output, size_t *capacity);

/// Returns whether the decompressor has consumed all input and stopped exactly after a block, at a byte boundary.
bool cw_inflater_is_between_blocks(const cw_inflater *inflater);

/// Returns the reason for a failure. Valid until the decompressor is freed.
const char *cw_inflater_problem(const cw_inflater *inflater);

#endif
