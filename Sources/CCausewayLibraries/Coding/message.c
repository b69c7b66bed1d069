#include "causeway_coding.h"
#include "functions.h"

#include <limits.h>
#include <stdlib.h>

struct cw_deflater {
    cw_zlib_stream zlib;
};

struct cw_inflater {
    cw_zlib_stream zlib;
    const char *problem;
    bool has_ended;
    bool is_between_blocks;
};

cw_deflater *cw_deflater_new(int window_bits) {
    if (cw_coding_load(CW_LIBRARY_ZLIB) != NULL) return NULL;
    cw_deflater *deflater = calloc(1, sizeof *deflater);
    if (deflater == NULL) return NULL;
    // zlib has no raw compressor for a window of 8 bits (256 bytes). Use 9 bits instead: zlib's distances are at most
    // 512 - 262 = 250 then, and fit a window of 256 bytes.
    int bits = window_bits < 9 ? 9 : window_bits > 15 ? 15 : window_bits;
    // Set zlib's memory level to `bits - 7`. The hash table then has one entry for each byte of the window.
    int result = cw_zlib.deflateInit2_(
        &deflater->zlib, CW_Z_DEFAULT_COMPRESSION, CW_Z_DEFLATED, -bits, bits - 7, CW_Z_DEFAULT_STRATEGY,
        cw_zlib.zlibVersion(), (int)sizeof deflater->zlib);
    if (result == CW_Z_OK) return deflater;
    free(deflater);
    return NULL;
}

void cw_deflater_free(cw_deflater *deflater) {
    cw_zlib.deflateEnd(&deflater->zlib);
    free(deflater);
}

static unsigned limited(size_t count) { return count > UINT_MAX ? UINT_MAX : (unsigned)count; }

static void place(cw_zlib_stream *stream, const uint8_t *input, unsigned count, uint8_t *output, unsigned capacity) {
    stream->next_in = input;
    stream->avail_in = count;
    stream->next_out = output;
    stream->avail_out = capacity;
}

bool cw_deflater_step(
    cw_deflater *deflater, const uint8_t *input, size_t *count, uint8_t *output, size_t *capacity, bool flushes) {
    unsigned available = limited(*count), room = limited(*capacity);
    place(&deflater->zlib, input, available, output, room);
    int result = cw_zlib.deflate(&deflater->zlib, flushes ? CW_Z_SYNC_FLUSH : CW_Z_NO_FLUSH);
    *count = available - deflater->zlib.avail_in;
    *capacity = room - deflater->zlib.avail_out;
    return result == CW_Z_OK || result == CW_Z_BUF_ERROR;
}

cw_inflater *cw_inflater_new(int window_bits) {
    if (cw_coding_load(CW_LIBRARY_ZLIB) != NULL) return NULL;
    cw_inflater *inflater = calloc(1, sizeof *inflater);
    if (inflater == NULL) return NULL;
    int bits = window_bits < 8 ? 8 : window_bits > 15 ? 15 : window_bits;
    int result = cw_zlib.inflateInit2_(&inflater->zlib, -bits, cw_zlib.zlibVersion(), (int)sizeof inflater->zlib);
    if (result == CW_Z_OK) return inflater;
    free(inflater);
    return NULL;
}

void cw_inflater_free(cw_inflater *inflater) {
    cw_zlib.inflateEnd(&inflater->zlib);
    free(inflater);
}

bool cw_inflater_step(
    cw_inflater *inflater, const uint8_t *input, size_t *count, uint8_t *output, size_t *capacity) {
    // A block with the final bit does not end the message (RFC 7692 §7.2.3.4). Continue with the same window.
    if (inflater->has_ended && *count > 0) {
        inflater->has_ended = false;
        if (cw_zlib.inflateResetKeep(&inflater->zlib) != CW_Z_OK) return false;
    }
    unsigned available = limited(*count), room = limited(*capacity);
    place(&inflater->zlib, input, available, output, room);
    int result = cw_zlib.inflate(&inflater->zlib, CW_Z_SYNC_FLUSH);
    *count = available - inflater->zlib.avail_in;
    *capacity = room - inflater->zlib.avail_out;
    inflater->has_ended = result == CW_Z_STREAM_END;
    // Bit 7 of `data_type` is set if the input so far ends exactly at the end of a block. The low bits contain the
    // number of unused bits in the last input byte. A call of inflate that moved no bytes clears bit 7, so do not use
    // the value after such a call.
    if (*count > 0 || *capacity > 0) inflater->is_between_blocks = (inflater->zlib.data_type & 0xff) == 0x80;
    if (result == CW_Z_OK || result == CW_Z_BUF_ERROR || result == CW_Z_STREAM_END) return true;
    inflater->problem = result == CW_Z_MEM_ERROR ? "out of memory" : inflater->zlib.msg;
    return false;
}

bool cw_inflater_is_between_blocks(const cw_inflater *inflater) {
    return inflater->is_between_blocks;
}

const char *cw_inflater_problem(const cw_inflater *inflater) {
    return inflater->problem == NULL ? "no reason given" : inflater->problem;
}
