#include "decode.h"
#include "functions.h"

#include <setjmp.h>
#include <string.h>

/// The state for decoding one JPEG image. If the library reports an error, the decoder jumps to `end`.
struct reading {
    // The library's decoder structure. Its size depends on the library's version and is about 700 bytes.
    _Alignas(16) unsigned char decoder[4096];
    struct cw_jpeg_errors errors;
    jmp_buf end;
};

/// The library's version and the size of its decoder structure. The library reports both in its errors about wrong
/// values.
static int library_version;
static size_t decoder_size;

static struct reading *reading_of(struct cw_jpeg_decoder *decoder) { return (struct reading *)(void *)decoder; }

static void jump(struct cw_jpeg_decoder *decoder) { longjmp(reading_of(decoder)->end, 1); }

static void count_warning(struct cw_jpeg_decoder *decoder, int level) {
    if (level < 0) decoder->err->num_warnings += 1;
}

static void print_nothing(struct cw_jpeg_decoder *decoder) { (void)decoder; }

static struct cw_jpeg_decoder *prepare(struct reading *reading) {
    struct cw_jpeg_decoder *decoder = (struct cw_jpeg_decoder *)(void *)reading->decoder;
    memset(reading, 0, sizeof *reading);
    decoder->err = cw_jpeg.jpeg_std_error(&reading->errors);
    reading->errors.error_exit = jump;
    reading->errors.emit_message = count_warning;
    reading->errors.output_message = print_nothing;
    return decoder;
}

// Creates a decoder with a version and a structure size. If libjpeg rejects one of them, returns the expected number
// from libjpeg's error.
static int ask(int version, size_t size) {
    static struct reading reading;
    struct cw_jpeg_decoder *decoder = prepare(&reading);
    if (setjmp(reading.end) == 0) {
        cw_jpeg.jpeg_CreateDecompress(decoder, version, size);
        return 0;
    }
    return reading.errors.msg_parm.i[0];
}

static bool learn_version(void) {
    if (decoder_size != 0) return true;
    int version = ask(0, 0);
    int size = version > 0 ? ask(version, 1) : 0;
    if (version < 60 || version > 99 || size < (int)sizeof(struct cw_jpeg_decoder)) return false;
    if (size > (int)sizeof ((struct reading *)0)->decoder) return false;
    library_version = version;
    decoder_size = (size_t)size;
    return true;
}

/// Returns the divisor for the decoder's smallest output size that is not below the wanted size.
static unsigned divisor(const struct cw_image_request *request, const struct cw_jpeg_decoder *decoder) {
    unsigned result = 1;
    if (request->wanted_width == 0 || request->wanted_height == 0) return 1;
    while (result < 8 && decoder->image_width / (result * 2) >= request->wanted_width
        && decoder->image_height / (result * 2) >= request->wanted_height) {
        result *= 2;
    }
    return result;
}

/// Converts a row from 3 to 4 bytes per pixel in place. The source is at the end of the target's memory, so that each
/// pixel is read before it is overwritten.
static void widen(const uint8_t *source, uint8_t *target, size_t count) {
    for (size_t i = 0; i < count; i++, source += 3, target += 4) {
        uint8_t red = source[0], green = source[1], blue = source[2];
        target[0] = red;
        target[1] = green;
        target[2] = blue;
        target[3] = 255;
    }
}

/// Converts inverted CMYK, which Adobe's programs write, to RGBA.
static void convert_cmyk(uint8_t *row, size_t count) {
    for (size_t i = 0; i < count; i++, row += 4) {
        unsigned black = row[3];
        row[0] = (uint8_t)(row[0] * black / 255);
        row[1] = (uint8_t)(row[1] * black / 255);
        row[2] = (uint8_t)(row[2] * black / 255);
        row[3] = 255;
    }
}

static bool read_rows(struct cw_image_job *job, struct cw_jpeg_decoder *decoder) {
    bool is_cmyk = decoder->out_color_space == CW_JPEG_CMYK;
    size_t width = decoder->output_width;
    if (decoder->output_components != (is_cmyk ? 4 : 3)) return cw_image_fail(job, CW_IMAGE_UNSUPPORTED, "components of a JPEG image");
    if (!cw_image_allocate(job, decoder->output_width, decoder->output_height)) return false;
    while (decoder->output_scanline < decoder->output_height) {
        uint8_t *target = job->pixels + (size_t)decoder->output_scanline * width * 4;
        uint8_t *row = is_cmyk ? target : target + width;
        if (cw_jpeg.jpeg_read_scanlines(decoder, &row, 1) != 1) break;
        if (is_cmyk) convert_cmyk(target, width);
        else widen(row, target, width);
    }
    return true;
}

static bool run(struct cw_image_job *job, struct reading *reading, struct cw_jpeg_decoder *decoder) {
    if (setjmp(reading->end) != 0) {
        char text[256] = "";
        reading->errors.format_message(decoder, text);
        text[sizeof text - 1] = 0;
        return cw_image_fail(job, CW_IMAGE_MALFORMED, text);
    }
    cw_jpeg.jpeg_CreateDecompress(decoder, library_version, decoder_size);
    cw_jpeg.jpeg_mem_src(decoder, job->bytes, job->request->byte_count);
    cw_jpeg.jpeg_read_header(decoder, 1);
    if (!cw_image_accept(job, decoder->image_width, decoder->image_height)) return false;
    bool is_cmyk = decoder->jpeg_color_space == CW_JPEG_CMYK || decoder->jpeg_color_space == CW_JPEG_YCCK;
    decoder->out_color_space = is_cmyk ? CW_JPEG_CMYK : CW_JPEG_RGB;
    decoder->scale_num = 1;
    decoder->scale_denom = divisor(job->request, decoder);
    cw_jpeg.jpeg_start_decompress(decoder);
    if (!read_rows(job, decoder)) return false;
    cw_jpeg.jpeg_finish_decompress(decoder);
    return true;
}

bool cw_image_decode_jpeg(struct cw_image_job *job) {
    // This variable is static: after longjmp, the content of changed local variables is unspecified.
    static struct reading reading;
    if (!learn_version()) return cw_image_fail(job, CW_IMAGE_UNSUPPORTED, "this version of libjpeg is not supported");
    struct cw_jpeg_decoder *decoder = prepare(&reading);
    bool result = run(job, &reading, decoder);
    cw_jpeg.jpeg_destroy_decompress(decoder);
    // Each libjpeg warning means missing or damaged data.
    if (result && reading.errors.num_warnings > 0) job->reply.flags |= CW_IMAGE_INCOMPLETE;
    return result;
}
