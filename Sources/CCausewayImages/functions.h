// Declarations of the functions in use, which are part of the libraries' stable interfaces: libjpeg 6b and 8 (also of libjpeg-turbo),
// libpng 1.6, libwebp 7.
#ifndef CAUSEWAY_IMAGES_FUNCTIONS_H
#define CAUSEWAY_IMAGES_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

// MARK: libjpeg

struct cw_jpeg_decoder;

/// The same structure as jpeg_error_mgr in libjpeg.
struct cw_jpeg_errors {
    void (*error_exit)(struct cw_jpeg_decoder *);
    void (*emit_message)(struct cw_jpeg_decoder *, int);
    void (*output_message)(struct cw_jpeg_decoder *);
    void (*format_message)(struct cw_jpeg_decoder *, char *);
    void (*reset_error_mgr)(struct cw_jpeg_decoder *);
    int msg_code;
    union {
        int i[8];
        char s[80];
    } msg_parm;
    int trace_level;
    long num_warnings;
    const char *const *tables[2];
    // Reserves space for the library's other fields, which need less space than this array.
    long reserved[8];
};

/// The first fields of `jpeg_decompress_struct`, which are the same in all versions of the library. The library itself
/// reports the size of the whole structure.
struct cw_jpeg_decoder {
    struct cw_jpeg_errors *err;
    void *mem;
    void *progress;
    void *client_data;
    int is_decompressor;
    int global_state;
    void *src;
    unsigned image_width;
    unsigned image_height;
    int num_components;
    int jpeg_color_space;
    int out_color_space;
    unsigned scale_num;
    unsigned scale_denom;
    double output_gamma;
    int buffered_image;
    int raw_data_out;
    int dct_method;
    int do_fancy_upsampling;
    int do_block_smoothing;
    int quantize_colors;
    int dither_mode;
    int two_pass_quantize;
    int desired_number_of_colors;
    int enable_1pass_quant;
    int enable_external_quant;
    int enable_2pass_quant;
    unsigned output_width;
    unsigned output_height;
    int out_color_components;
    int output_components;
    int rec_outbuf_height;
    int actual_number_of_colors;
    uint8_t **colormap;
    unsigned output_scanline;
};

enum { CW_JPEG_RGB = 2, CW_JPEG_CMYK = 4, CW_JPEG_YCCK = 5 };

// MARK: libpng

/// The library's `png_image` structure.
struct cw_png_image {
    void *opaque;
    uint32_t version;
    uint32_t width;
    uint32_t height;
    uint32_t format;
    uint32_t flags;
    uint32_t colormap_entries;
    uint32_t warning_or_error;
    char message[64];
};

enum { CW_PNG_VERSION = 1, CW_PNG_RGBA = 3 };

// MARK: Tables

// clang-format off
#define CW_JPEG_FUNCTIONS(F) \
    F(struct cw_jpeg_errors *, jpeg_std_error, (struct cw_jpeg_errors *)) \
    F(void, jpeg_CreateDecompress, (struct cw_jpeg_decoder *, int, size_t)) \
    F(void, jpeg_destroy_decompress, (struct cw_jpeg_decoder *)) \
    F(void, jpeg_mem_src, (struct cw_jpeg_decoder *, const uint8_t *, unsigned long)) \
    F(int, jpeg_read_header, (struct cw_jpeg_decoder *, int)) \
    F(int, jpeg_start_decompress, (struct cw_jpeg_decoder *)) \
    F(unsigned, jpeg_read_scanlines, (struct cw_jpeg_decoder *, uint8_t **, unsigned)) \
    F(int, jpeg_finish_decompress, (struct cw_jpeg_decoder *))

#define CW_PNG_FUNCTIONS(F) \
    F(int, png_image_begin_read_from_memory, (struct cw_png_image *, const void *, size_t)) \
    F(int, png_image_finish_read, (struct cw_png_image *, const void *, void *, int32_t, void *)) \
    F(void, png_image_free, (struct cw_png_image *))

#define CW_WEBP_FUNCTIONS(F) \
    F(int, WebPGetInfo, (const uint8_t *, size_t, int *, int *)) \
    F(uint8_t *, WebPDecodeRGBAInto, (const uint8_t *, size_t, uint8_t *, size_t, int))
// clang-format on

#define CW_IMAGE_FIELD(result, name, parameters) result (*name) parameters;
typedef struct cw_jpeg_table { CW_JPEG_FUNCTIONS(CW_IMAGE_FIELD) } cw_jpeg_table;
typedef struct cw_png_table { CW_PNG_FUNCTIONS(CW_IMAGE_FIELD) } cw_png_table;
typedef struct cw_webp_table { CW_WEBP_FUNCTIONS(CW_IMAGE_FIELD) } cw_webp_table;
#undef CW_IMAGE_FIELD

/// Pointers to the functions of libjpeg, libpng and libwebp. `cw_image_load_libraries` sets them; they are constant
/// from then on.
extern cw_jpeg_table cw_jpeg;
extern cw_png_table cw_png;
extern cw_webp_table cw_webp;

/// Loads the libraries that are installed.
void cw_image_load_libraries(void);

/// Returns NULL if the library of a format is loaded, else an error message with the package to install.
const char *cw_image_missing(uint32_t format);

#endif
