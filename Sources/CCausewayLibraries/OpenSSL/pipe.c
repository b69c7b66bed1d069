#include "causeway_openssl.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/// A byte queue. Consumed bytes stay in the buffer until the queue is empty, or until more space is needed at the end.
struct buffer {
    uint8_t *bytes;
    size_t start;
    size_t end;
    size_t capacity;
};

struct cw_pipe {
    const uint8_t *lent;
    size_t lent_count;
    struct buffer input;
    struct buffer output;
    bool keeps_datagrams;
    bool is_ended;
    bool is_held;
};

enum {
    smallest_capacity = 4096,
    /// An empty buffer above this capacity is freed. An idle connection keeps at most this capacity in each direction.
    kept_capacity = 4096,
    /// Each datagram is stored after a header that contains its length.
    header_size = sizeof(uint32_t),
    bio_type_source_sink = 0x0400,
    bio_flags_retry_read = 0x01 | 0x08,
    bio_flags_retry_any = 0x0f,
    bio_ctrl_eof = 2,
    bio_ctrl_pending = 10,
    bio_ctrl_flush = 11,
    bio_ctrl_wpending = 13,
};

static size_t buffer_count(const struct buffer *buffer) { return buffer->end - buffer->start; }

static bool buffer_reserve(struct buffer *buffer, size_t count) {
    if (buffer->capacity - buffer->end >= count) return true;
    size_t used = buffer_count(buffer);
    if (count > SIZE_MAX / 4 - used) return false;
    if (buffer->capacity >= used + count && buffer->start >= used) {
        memcpy(buffer->bytes, buffer->bytes + buffer->start, used);
    } else {
        size_t capacity = buffer->capacity < smallest_capacity ? smallest_capacity : buffer->capacity;
        while (capacity < used + count) capacity *= 2;
        uint8_t *bytes = malloc(capacity);
        if (bytes == NULL) return false;
        if (used > 0) memcpy(bytes, buffer->bytes + buffer->start, used);
        free(buffer->bytes);
        buffer->bytes = bytes;
        buffer->capacity = capacity;
    }
    buffer->start = 0;
    buffer->end = used;
    return true;
}

static bool buffer_append(struct buffer *buffer, const void *bytes, size_t count) {
    if (count == 0) return true;
    if (!buffer_reserve(buffer, count)) return false;
    memcpy(buffer->bytes + buffer->end, bytes, count);
    buffer->end += count;
    return true;
}

static void buffer_drop(struct buffer *buffer, size_t count) {
    buffer->start += count;
    if (buffer->start != buffer->end) return;
    buffer->start = buffer->end = 0;
    if (buffer->capacity <= kept_capacity) return;
    free(buffer->bytes);
    buffer->bytes = NULL;
    buffer->capacity = 0;
}

static size_t buffer_take(struct buffer *buffer, void *out, size_t capacity) {
    size_t count = buffer_count(buffer);
    if (count > capacity) count = capacity;
    if (count == 0) return 0;
    memcpy(out, buffer->bytes + buffer->start, count);
    buffer_drop(buffer, count);
    return count;
}

static bool append_datagram(struct buffer *buffer, const void *bytes, size_t count) {
    uint32_t header = (uint32_t)count;
    if (count > UINT32_MAX || !buffer_reserve(buffer, header_size + count)) return false;
    return buffer_append(buffer, &header, header_size) && buffer_append(buffer, bytes, count);
}

static size_t first_datagram(const struct buffer *buffer) {
    uint32_t header;
    if (buffer_count(buffer) < header_size) return 0;
    memcpy(&header, buffer->bytes + buffer->start, header_size);
    return header;
}

// MARK: The pipe

cw_pipe *cw_pipe_new(bool keeps_datagrams) {
    cw_pipe *pipe = calloc(1, sizeof *pipe);
    if (pipe != NULL) pipe->keeps_datagrams = keeps_datagrams;
    return pipe;
}

void cw_pipe_free(cw_pipe *pipe) {
    if (pipe == NULL) return;
    free(pipe->input.bytes);
    free(pipe->output.bytes);
    free(pipe);
}

void cw_pipe_lend(cw_pipe *pipe, const uint8_t *bytes, size_t count) {
    pipe->lent = bytes;
    pipe->lent_count = count;
}

bool cw_pipe_settle(cw_pipe *pipe, size_t limit) {
    const uint8_t *bytes = pipe->lent;
    size_t count = pipe->lent_count;
    pipe->lent = NULL;
    pipe->lent_count = 0;
    if (count == 0) return true;
    if (count > limit || buffer_count(&pipe->input) > limit - count) return false;
    if (pipe->keeps_datagrams) return append_datagram(&pipe->input, bytes, count);
    return buffer_append(&pipe->input, bytes, count);
}

void cw_pipe_end(cw_pipe *pipe) { pipe->is_ended = true; }

void cw_pipe_hold(cw_pipe *pipe, bool is_held) { pipe->is_held = is_held; }

size_t cw_pipe_unread(const cw_pipe *pipe) { return buffer_count(&pipe->input) + pipe->lent_count; }

bool cw_pipe_is_dry(const cw_pipe *pipe) { return !pipe->is_ended && cw_pipe_unread(pipe) == 0; }

void cw_pipe_discard(cw_pipe *pipe) {
    buffer_drop(&pipe->input, buffer_count(&pipe->input));
    cw_pipe_lend(pipe, NULL, 0);
}

const uint8_t *cw_pipe_outgoing(const cw_pipe *pipe, size_t *count) {
    const struct buffer *output = &pipe->output;
    *count = pipe->keeps_datagrams ? first_datagram(output) : buffer_count(output);
    if (buffer_count(output) == 0) return NULL;
    return output->bytes + output->start + (pipe->keeps_datagrams ? header_size : 0);
}

void cw_pipe_sent(cw_pipe *pipe, size_t count) {
    if (buffer_count(&pipe->output) == 0) return;
    if (pipe->keeps_datagrams) count = header_size + first_datagram(&pipe->output);
    if (count > buffer_count(&pipe->output)) count = buffer_count(&pipe->output);
    buffer_drop(&pipe->output, count);
}

size_t cw_pipe_unsent(const cw_pipe *pipe) { return buffer_count(&pipe->output); }

// MARK: The BIO

static size_t read_stream(cw_pipe *pipe, void *out, size_t capacity) {
    if (buffer_count(&pipe->input) > 0) return buffer_take(&pipe->input, out, capacity);
    size_t count = pipe->lent_count < capacity ? pipe->lent_count : capacity;
    if (count > 0) memcpy(out, pipe->lent, count);
    cw_pipe_lend(pipe, count > 0 ? pipe->lent + count : NULL, pipe->lent_count - count);
    return count;
}

/// Reads one datagram. If it is longer than the buffer, cuts it off, as the kernel does.
static size_t read_datagram(cw_pipe *pipe, void *out, size_t capacity) {
    size_t count = first_datagram(&pipe->input);
    if (count > 0) {
        size_t taken = count < capacity ? count : capacity;
        memcpy(out, pipe->input.bytes + pipe->input.start + header_size, taken);
        buffer_drop(&pipe->input, header_size + count);
        return taken;
    }
    count = pipe->lent_count < capacity ? pipe->lent_count : capacity;
    if (count > 0) memcpy(out, pipe->lent, count);
    cw_pipe_lend(pipe, NULL, 0);
    return count;
}

static int bio_read(BIO *bio, char *out, int capacity) {
    cw_pipe *pipe = cw_BIO_get_data(bio);
    cw_BIO_clear_flags(bio, bio_flags_retry_any);
    if (pipe == NULL || capacity <= 0) return 0;
    size_t count = 0;
    if (!pipe->is_held) {
        count = pipe->keeps_datagrams ? read_datagram(pipe, out, (size_t)capacity)
                                      : read_stream(pipe, out, (size_t)capacity);
    }
    if (count > 0) return (int)count;
    if (pipe->is_ended && !pipe->is_held && !pipe->keeps_datagrams) return 0;
    cw_BIO_set_flags(bio, bio_flags_retry_read);
    return -1;
}

static int bio_write(BIO *bio, const char *bytes, int count) {
    cw_pipe *pipe = cw_BIO_get_data(bio);
    cw_BIO_clear_flags(bio, bio_flags_retry_any);
    if (pipe == NULL || count <= 0) return 0;
    bool is_kept = pipe->keeps_datagrams ? append_datagram(&pipe->output, bytes, (size_t)count)
                                         : buffer_append(&pipe->output, bytes, (size_t)count);
    return is_kept ? count : -1;
}

static long bio_ctrl(BIO *bio, int command, long number, void *pointer) {
    (void)number;
    (void)pointer;
    cw_pipe *pipe = cw_BIO_get_data(bio);
    if (pipe == NULL) return 0;
    switch (command) {
    case bio_ctrl_flush:
        return 1;
    case bio_ctrl_eof:
        return pipe->is_ended && cw_pipe_unread(pipe) == 0;
    case bio_ctrl_pending:
        return (long)cw_pipe_unread(pipe);
    case bio_ctrl_wpending:
        return (long)cw_pipe_unsent(pipe);
    default:
        return 0;
    }
}

static BIO_METHOD *method;
static pthread_once_t method_once = PTHREAD_ONCE_INIT;

static void make_method(void) {
    method = cw_BIO_meth_new(cw_BIO_get_new_index() | bio_type_source_sink, "causeway pipe");
    if (method == NULL) return;
    cw_BIO_meth_set_read(method, bio_read);
    cw_BIO_meth_set_write(method, bio_write);
    cw_BIO_meth_set_ctrl(method, bio_ctrl);
}

BIO *cw_pipe_bio(cw_pipe *pipe) {
    pthread_once(&method_once, make_method);
    BIO *bio = method == NULL ? NULL : cw_BIO_new(method);
    if (bio == NULL) return NULL;
    cw_BIO_set_data(bio, pipe);
    cw_BIO_set_init(bio, 1);
    return bio;
}
