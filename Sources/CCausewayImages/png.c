#include "decode.h"
#include "functions.h"

#include <string.h>

bool cw_image_decode_png(struct cw_image_job *job) {
    struct cw_png_image image;
    memset(&image, 0, sizeof image);
    image.version = CW_PNG_VERSION;
    if (!cw_png.png_image_begin_read_from_memory(&image, job->bytes, job->request->byte_count)) {
        return cw_image_fail(job, CW_IMAGE_MALFORMED, image.message);
    }
    image.format = CW_PNG_RGBA;
    if (!cw_image_accept(job, image.width, image.height) || !cw_image_allocate(job, image.width, image.height)) {
        cw_png.png_image_free(&image);
        return false;
    }
    int32_t stride = (int32_t)(image.width * 4);
    if (!cw_png.png_image_finish_read(&image, NULL, job->pixels, stride, NULL)) {
        return cw_image_fail(job, CW_IMAGE_MALFORMED, image.message);
    }
    return true;
}
