#include "causeway_images.h"
#include "functions.h"
#include "library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

cw_jpeg_table cw_jpeg;
cw_png_table cw_png;
cw_webp_table cw_webp;

static bool has_jpeg, has_png, has_webp;

// Converts a data pointer to a function pointer in the way that POSIX specifies for dlsym.
#define CW_FIND(result, name, parameters) \
    if ((*(void **)&table.name = dlsym(library, #name)) == NULL) return false;

static bool load_jpeg(const char *name) {
    void *library = cw_open_library(name);
    cw_jpeg_table table;
    if (library == NULL) return false;
    CW_JPEG_FUNCTIONS(CW_FIND)
    cw_jpeg = table;
    return true;
}

static bool load_png(const char *name) {
    void *library = cw_open_library(name);
    cw_png_table table;
    if (library == NULL) return false;
    CW_PNG_FUNCTIONS(CW_FIND)
    cw_png = table;
    return true;
}

static bool load_webp(const char *name) {
    void *library = cw_open_library(name);
    cw_webp_table table;
    if (library == NULL) return false;
    CW_WEBP_FUNCTIONS(CW_FIND)
    cw_webp = table;
    return true;
}

void cw_image_load_libraries(void) {
    has_jpeg = load_jpeg("libjpeg.so.62") || load_jpeg("libjpeg.so.8");
    has_png = load_png("libpng16.so.16");
    has_webp = load_webp("libwebp.so.7");
}

const char *cw_image_missing(uint32_t format) {
    switch (format) {
    case CW_IMAGE_JPEG:
        return has_jpeg ? NULL
                        : "JPEG needs libjpeg. Install it: libjpeg62-turbo (Debian), libjpeg-turbo8 (Ubuntu), libjpeg-turbo (Fedora, "
                          "RHEL, Alpine, Arch), libjpeg8 (openSUSE).";
    case CW_IMAGE_PNG:
        return has_png ? NULL
                       : "PNG needs libpng 1.6. Install it: libpng16-16t64 or libpng16-16 (Debian, Ubuntu), libpng (Fedora, RHEL, "
                         "Alpine, Arch), libpng16-16 (openSUSE).";
    case CW_IMAGE_WEBP:
        return has_webp ? NULL
                        : "WebP needs libwebp. Install it: libwebp7 (Debian, Ubuntu, openSUSE), libwebp (Fedora, RHEL, Alpine, Arch).";
    default: return "There is no decoder for this format.";
    }
}
