// One image: its bytes, its size limits, and the result of decoding it.
#ifndef CAUSEWAY_IMAGES_DECODE_H
#define CAUSEWAY_IMAGES_DECODE_H

#include "causeway_images.h"

#include <stdbool.h>
#include <stddef.h>

struct cw_image_job {
    const struct cw_image_request *request;
    const uint8_t *bytes;
    struct cw_image_reply reply;
    /// The decoded pixels, owned by the job. NULL before the size is known.
    uint8_t *pixels;
    char message[512];
};

/// Fails a decoding job: frees its pixels, and stores the status and the message in the reply. Always returns false.
bool cw_image_fail(struct cw_image_job *job, uint32_t status, const char *message);

/// Returns whether the request's limits permit an image of this size. If not, the job fails. Call this before any
/// memory of that size is allocated.
bool cw_image_accept(struct cw_image_job *job, uint32_t full_width, uint32_t full_height);

/// Allocates the pixels. They are zero.
bool cw_image_allocate(struct cw_image_job *job, uint32_t width, uint32_t height);

bool cw_image_decode_jpeg(struct cw_image_job *job);
bool cw_image_decode_png(struct cw_image_job *job);
bool cw_image_decode_webp(struct cw_image_job *job);

#endif
