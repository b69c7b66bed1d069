#include "decode.h"
#include "functions.h"

bool cw_image_decode_webp(struct cw_image_job *job) {
    int width = 0, height = 0;
    size_t count = job->request->byte_count;
    if (!cw_webp.WebPGetInfo(job->bytes, count, &width, &height) || width <= 0 || height <= 0) {
        return cw_image_fail(job, CW_IMAGE_MALFORMED, "not a WebP image");
    }
    if (!cw_image_accept(job, (uint32_t)width, (uint32_t)height)) return false;
    if (!cw_image_allocate(job, (uint32_t)width, (uint32_t)height)) return false;
    size_t room = (size_t)width * (size_t)height * 4;
    if (cw_webp.WebPDecodeRGBAInto(job->bytes, count, job->pixels, room, width * 4) == NULL) {
        return cw_image_fail(job, CW_IMAGE_MALFORMED, "a damaged or animated WebP image");
    }
    return true;
}
