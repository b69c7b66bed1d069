#include "causeway_coding.h"
#include "functions.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct cw_decoder {
    cw_coding_format format;
    const char *problem;
    union {
        cw_zlib_stream zlib;
        cw_brotli_state *brotli;
        cw_zstd_context *zstd;
    };
};

// The maximum window of a zstd content coding is 8 MiB (RFC 9659 §3).
static const int zstd_window_log = 23;

static cw_coding_library library_of(cw_coding_format format) {
    switch (format) {
    case CW_FORMAT_BROTLI: return CW_LIBRARY_BROTLI;
    case CW_FORMAT_ZSTD: return CW_LIBRARY_ZSTD;
    case CW_FORMAT_GZIP:
    case CW_FORMAT_ZLIB:
    case CW_FORMAT_RAW_DEFLATE: break;
    }
    return CW_LIBRARY_ZLIB;
}

/// Returns the window parameter of inflateInit2 for the maximum window of 32 KiB. zlib expects 16 more for gzip, and a
/// negative number for data without a header.
static int window_bits(cw_coding_format format) {
    if (format == CW_FORMAT_GZIP) return 15 + 16;
    return format == CW_FORMAT_RAW_DEFLATE ? -15 : 15;
}

static bool prepare(cw_decoder *decoder) {
    switch (decoder->format) {
    case CW_FORMAT_BROTLI:
        decoder->brotli = cw_brotli.BrotliDecoderCreateInstance(NULL, NULL, NULL);
        return decoder->brotli != NULL;
    case CW_FORMAT_ZSTD:
        decoder->zstd = cw_zstd.ZSTD_createDStream();
        if (decoder->zstd == NULL) return false;
        if (!cw_zstd.ZSTD_isError(cw_zstd.ZSTD_initDStream(decoder->zstd))
            && !cw_zstd.ZSTD_isError(
                cw_zstd.ZSTD_DCtx_setParameter(decoder->zstd, CW_ZSTD_WINDOW_LOG_MAX, zstd_window_log))) {
            return true;
        }
        cw_zstd.ZSTD_freeDStream(decoder->zstd);
        return false;
    case CW_FORMAT_GZIP:
    case CW_FORMAT_ZLIB:
    case CW_FORMAT_RAW_DEFLATE: break;
    }
    return cw_zlib.inflateInit2_(
               &decoder->zlib, window_bits(decoder->format), cw_zlib.zlibVersion(), (int)sizeof decoder->zlib) == CW_Z_OK;
}

cw_decoder *cw_decoder_new(cw_coding_format format) {
    if (cw_coding_load(library_of(format)) != NULL) return NULL;
    cw_decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder == NULL) return NULL;
    decoder->format = format;
    if (prepare(decoder)) return decoder;
    free(decoder);
    return NULL;
}

void cw_decoder_free(cw_decoder *decoder) {
    switch (decoder->format) {
    case CW_FORMAT_BROTLI: cw_brotli.BrotliDecoderDestroyInstance(decoder->brotli); break;
    case CW_FORMAT_ZSTD: cw_zstd.ZSTD_freeDStream(decoder->zstd); break;
    case CW_FORMAT_GZIP:
    case CW_FORMAT_ZLIB:
    case CW_FORMAT_RAW_DEFLATE: cw_zlib.inflateEnd(&decoder->zlib); break;
    }
    free(decoder);
}

bool cw_decoder_restart(cw_decoder *decoder) {
    switch (decoder->format) {
    case CW_FORMAT_GZIP: return cw_zlib.inflateReset(&decoder->zlib) == CW_Z_OK;
    // A zstd decoder needs no reset: the next call of ZSTD_decompressStream begins the next frame.
    case CW_FORMAT_ZSTD: return true;
    case CW_FORMAT_BROTLI:
    case CW_FORMAT_ZLIB:
    case CW_FORMAT_RAW_DEFLATE: break;
    }
    return false;
}

static cw_decoding fail(cw_decoder *decoder, const char *problem) {
    decoder->problem = problem == NULL ? "the data is damaged" : problem;
    return CW_DECODING_FAILED;
}

static cw_decoding step_zlib(
    cw_decoder *decoder, const uint8_t *input, size_t *count, uint8_t *output, size_t *capacity) {
    cw_zlib_stream *stream = &decoder->zlib;
    unsigned available = *count > UINT_MAX ? UINT_MAX : (unsigned)*count;
    unsigned room = *capacity > UINT_MAX ? UINT_MAX : (unsigned)*capacity;
    stream->next_in = input;
    stream->avail_in = available;
    stream->next_out = output;
    stream->avail_out = room;
    int result = cw_zlib.inflate(stream, 0);
    *count = available - stream->avail_in;
    *capacity = room - stream->avail_out;
    switch (result) {
    case CW_Z_OK:
    case CW_Z_BUF_ERROR: return CW_DECODING_CONTINUES;
    case CW_Z_STREAM_END: return CW_DECODING_ENDED;
    case CW_Z_NEED_DICT: return fail(decoder, "the data needs a dictionary");
    case CW_Z_MEM_ERROR: return fail(decoder, "out of memory");
    default: return fail(decoder, stream->msg);
    }
}

static cw_decoding step_brotli(
    cw_decoder *decoder, const uint8_t *input, size_t *count, uint8_t *output, size_t *capacity) {
    size_t available = *count, room = *capacity;
    int result = cw_brotli.BrotliDecoderDecompressStream(decoder->brotli, &available, &input, &room, &output, NULL);
    *count -= available;
    *capacity -= room;
    if (result == CW_BROTLI_SUCCESS) return CW_DECODING_ENDED;
    if (result != CW_BROTLI_ERROR) return CW_DECODING_CONTINUES;
    return fail(decoder, cw_brotli.BrotliDecoderErrorString(cw_brotli.BrotliDecoderGetErrorCode(decoder->brotli)));
}

static cw_decoding step_zstd(
    cw_decoder *decoder, const uint8_t *input, size_t *count, uint8_t *output, size_t *capacity) {
    cw_zstd_input in = {input, *count, 0};
    cw_zstd_output out = {output, *capacity, 0};
    size_t result = cw_zstd.ZSTD_decompressStream(decoder->zstd, &out, &in);
    *count = in.pos;
    *capacity = out.pos;
    if (cw_zstd.ZSTD_isError(result)) return fail(decoder, cw_zstd.ZSTD_getErrorName(result));
    return result == 0 ? CW_DECODING_ENDED : CW_DECODING_CONTINUES;
}

cw_decoding cw_decoder_step(
    cw_decoder *decoder, const uint8_t *input, size_t *count, uint8_t *output, size_t *capacity) {
    switch (decoder->format) {
    case CW_FORMAT_BROTLI: return step_brotli(decoder, input, count, output, capacity);
    case CW_FORMAT_ZSTD: return step_zstd(decoder, input, count, output, capacity);
    case CW_FORMAT_GZIP:
    case CW_FORMAT_ZLIB:
    case CW_FORMAT_RAW_DEFLATE: break;
    }
    return step_zlib(decoder, input, count, output, capacity);
}

const char *cw_decoder_problem(const cw_decoder *decoder) {
    return decoder->problem == NULL ? "no reason given" : decoder->problem;
}
