#include "decode.h"
#include "functions.h"

#include <string.h>

/// A picture in a file: its bytes, which start with a bit stream or alpha chunk, and its position on the canvas.
struct picture {
    const uint8_t *bytes;
    size_t count;
    uint32_t x, y, width, height;
};

static uint32_t little(const uint8_t *bytes, int count) {
    uint32_t value = 0;
    while (count-- > 0) value = value << 8 | bytes[count];
    return value;
}

/// Whether the extended header has the flag of animations (RFC 9649 §2.7).
static bool is_animated(const uint8_t *bytes, size_t count) {
    return count >= 30 && memcmp(bytes + 12, "VP8X", 4) == 0 && (bytes[20] & 2) != 0;
}

/// Finds the first frame of an animation (RFC 9649 §2.7.1.1). Returns false if the file has no complete frame.
static bool find_frame(const uint8_t *bytes, size_t count, struct picture *picture) {
    size_t offset = 12;
    while (count >= offset && count - offset >= 8) {
        const uint8_t *chunk = bytes + offset;
        size_t size = little(chunk + 4, 4);
        if (size > count - offset - 8) return false;
        if (memcmp(chunk, "ANMF", 4) == 0) {
            if (size <= 16) return false;
            picture->x = little(chunk + 8, 3) * 2;
            picture->y = little(chunk + 11, 3) * 2;
            picture->width = little(chunk + 14, 3) + 1;
            picture->height = little(chunk + 17, 3) + 1;
            picture->bytes = chunk + 24;
            picture->count = size - 16;
            return true;
        }
        // Chunks have an even number of bytes.
        offset += 8 + size + (size & 1);
    }
    return false;
}

/// Whether a frame lies within the canvas and has the size from its header.
static bool is_valid(const struct picture *frame, uint32_t width, uint32_t height) {
    int real_width = 0, real_height = 0;
    if (frame->x > width || frame->width > width - frame->x) return false;
    if (frame->y > height || frame->height > height - frame->y) return false;
    if (!cw_webp.WebPGetInfo(frame->bytes, frame->count, &real_width, &real_height)) return false;
    return real_width > 0 && real_height > 0 && (uint32_t)real_width == frame->width && (uint32_t)real_height == frame->height;
}

bool cw_image_decode_webp(struct cw_image_job *job) {
    int width = 0, height = 0;
    struct picture picture = {.bytes = job->bytes, .count = job->request->byte_count};
    if (!cw_webp.WebPGetInfo(picture.bytes, picture.count, &width, &height) || width <= 0 || height <= 0) {
        return cw_image_fail(job, CW_IMAGE_MALFORMED, "not a WebP image");
    }
    if (!cw_image_accept(job, (uint32_t)width, (uint32_t)height)) return false;
    // The library decodes one frame at a time. Decode the first; the canvas around this frame stays transparent.
    if (is_animated(job->bytes, job->request->byte_count)) {
        bool is_found = find_frame(job->bytes, job->request->byte_count, &picture);
        if (!is_found || !is_valid(&picture, (uint32_t)width, (uint32_t)height)) {
            return cw_image_fail(job, CW_IMAGE_MALFORMED, "a damaged WebP animation");
        }
    }
    if (!cw_image_allocate(job, (uint32_t)width, (uint32_t)height)) return false;
    size_t room = (size_t)width * (size_t)height * 4;
    size_t start = ((size_t)picture.y * (size_t)width + picture.x) * 4;
    if (cw_webp.WebPDecodeRGBAInto(picture.bytes, picture.count, job->pixels + start, room - start, width * 4) == NULL) {
        return cw_image_fail(job, CW_IMAGE_MALFORMED, "a damaged WebP image");
    }
    return true;
}
