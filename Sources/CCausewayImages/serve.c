#include "confine.h"
#include "decode.h"
#include "functions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { channel = 0, maximum_byte_count = 512 << 20 };

bool cw_image_fail(struct cw_image_job *job, uint32_t status, const char *message) {
    free(job->pixels);
    job->pixels = NULL;
    job->reply.status = status;
    job->reply.width = job->reply.height = job->reply.flags = 0;
    snprintf(job->message, sizeof job->message, "%s", message);
    job->reply.byte_count = (uint32_t)strlen(job->message);
    return false;
}

bool cw_image_accept(struct cw_image_job *job, uint32_t full_width, uint32_t full_height) {
    const struct cw_image_request *request = job->request;
    char text[200];
    job->reply.full_width = full_width;
    job->reply.full_height = full_height;
    if (full_width == 0 || full_height == 0) return cw_image_fail(job, CW_IMAGE_MALFORMED, "an image without pixels");
    bool is_wide = full_width > request->maximum_dimension || full_height > request->maximum_dimension;
    if (!is_wide && (uint64_t)full_width * full_height <= request->maximum_pixels) return true;
    snprintf(text, sizeof text, "%u x %u pixels; the limits are %u pixels in a row or column and %u in all", full_width, full_height,
        request->maximum_dimension, request->maximum_pixels);
    return cw_image_fail(job, CW_IMAGE_TOO_LARGE, text);
}

bool cw_image_allocate(struct cw_image_job *job, uint32_t width, uint32_t height) {
    uint64_t count = (uint64_t)width * height * 4;
    if (width == 0 || height == 0 || count > UINT32_MAX) return cw_image_fail(job, CW_IMAGE_TOO_LARGE, "too many pixels");
    job->pixels = calloc(1, (size_t)count);
    if (job->pixels == NULL) return cw_image_fail(job, CW_IMAGE_NO_MEMORY, "no memory for the pixels");
    job->reply.width = width;
    job->reply.height = height;
    job->reply.byte_count = (uint32_t)count;
    return true;
}

static bool read_all(void *target, size_t count) {
    for (size_t offset = 0; offset < count;) {
        ssize_t result = read(channel, (char *)target + offset, count - offset);
        if (result < 0 && errno == EINTR) continue;
        if (result <= 0) return false;
        offset += (size_t)result;
    }
    return true;
}

static bool write_all(const void *source, size_t count) {
    for (size_t offset = 0; offset < count;) {
        ssize_t result = write(channel, (const char *)source + offset, count - offset);
        if (result < 0 && errno == EINTR) continue;
        if (result <= 0) return false;
        offset += (size_t)result;
    }
    return true;
}

static bool is_opaque(const struct cw_image_job *job) {
    for (size_t i = 3; i < job->reply.byte_count; i += 4) {
        if (job->pixels[i] != 255) return false;
    }
    return true;
}

static void decode(struct cw_image_job *job) {
    const char *missing = cw_image_missing(job->request->format);
    bool is_decoded = false;
    if (missing != NULL) {
        cw_image_fail(job, CW_IMAGE_NO_LIBRARY, missing);
        return;
    }
    switch (job->request->format) {
    case CW_IMAGE_JPEG: is_decoded = cw_image_decode_jpeg(job); break;
    case CW_IMAGE_PNG: is_decoded = cw_image_decode_png(job); break;
    case CW_IMAGE_WEBP: is_decoded = cw_image_decode_webp(job); break;
    }
    if (!is_decoded) return;
    if (is_opaque(job)) job->reply.flags |= CW_IMAGE_OPAQUE;
}

/// Answers one request. Returns false at the end of the channel.
static bool serve_one(const char *problem) {
    struct cw_image_request request;
    struct cw_image_job job;
    memset(&job, 0, sizeof job);
    if (!read_all(&request, sizeof request)) return false;
    if (request.magic != CW_IMAGE_REQUEST_MAGIC || request.byte_count > maximum_byte_count) return false;
    uint8_t *bytes = malloc(request.byte_count + 1);
    if (bytes == NULL || !read_all(bytes, request.byte_count)) {
        free(bytes);
        return false;
    }
    job.request = &request;
    job.bytes = bytes;
    job.reply.magic = CW_IMAGE_REPLY_MAGIC;
    if (problem == NULL) decode(&job);
    else cw_image_fail(&job, CW_IMAGE_NOT_CONFINED, problem);
    bool is_written = write_all(&job.reply, sizeof job.reply)
        && write_all(job.pixels != NULL ? (const void *)job.pixels : job.message, job.reply.byte_count);
    free(bytes);
    free(job.pixels);
    return is_written && problem == NULL;
}

static unsigned long limit(int argc, char **argv, int index, unsigned long otherwise) {
    unsigned long value = argc > index ? strtoul(argv[index], NULL, 10) : 0;
    return value == 0 || value > 1UL << 20 ? otherwise : value;
}

int cw_image_decoder_main(int argc, char **argv) {
    cw_image_load_libraries();
    const char *problem = cw_image_confine(limit(argc, argv, 1, 1024), limit(argc, argv, 2, 60));
    while (serve_one(problem)) {}
    return 0;
}
