// The image decoder, a program that decodes images from unknown sources with libjpeg, libpng and libwebp. It loads
// these libraries at run time. It gives up all unnecessary privileges before it reads the first image.
#ifndef CAUSEWAY_IMAGES_H
#define CAUSEWAY_IMAGES_H

#include <stdint.h>

enum { CW_IMAGE_REQUEST_MAGIC = 0x31495743, CW_IMAGE_REPLY_MAGIC = 0x31525743 };

/// The image formats that a request can name.
enum { CW_IMAGE_JPEG = 1, CW_IMAGE_PNG = 2, CW_IMAGE_WEBP = 3 };

/// The result codes that a reply can contain.
enum {
    CW_IMAGE_DECODED = 0,
    CW_IMAGE_MALFORMED = 1,
    CW_IMAGE_TOO_LARGE = 2,
    CW_IMAGE_UNSUPPORTED = 3,
    /// A library is not installed. The text names its packages.
    CW_IMAGE_NO_LIBRARY = 4,
    CW_IMAGE_NO_MEMORY = 5,
    /// The program could not give up its privileges, so it decodes nothing.
    CW_IMAGE_NOT_CONFINED = 6,
};

/// In replies: the end of the file is missing, or a part is damaged. The image is decoded as far as possible.
enum { CW_IMAGE_INCOMPLETE = 1 };
/// In replies: all pixels are opaque.
enum { CW_IMAGE_OPAQUE = 2 };

/// A request, in the byte order of the machine. The bytes of the image follow.
struct cw_image_request {
    uint32_t magic;
    uint32_t format;
    uint32_t byte_count;
    /// The size that the client needs; 0 for the full size. A larger image may be decoded at a half, a quarter or an
    /// eighth of its size, but not below the needed size.
    uint32_t wanted_width;
    uint32_t wanted_height;
    uint32_t maximum_dimension;
    uint32_t maximum_pixels;
    uint32_t reserved;
};

/// The header of a reply. After success, pixel rows follow without gaps. A pixel has 4 bytes: red, green, blue, alpha.
/// After a failure, a text follows.
struct cw_image_reply {
    uint32_t magic;
    uint32_t status;
    uint32_t width;
    uint32_t height;
    /// The size of the image in the file, which may be larger than the decoded image.
    uint32_t full_width;
    uint32_t full_height;
    uint32_t flags;
    uint32_t byte_count;
};

/// Serves requests on standard input, which is a socket, until its end. The first two arguments are limits: memory in MiB, processor time
/// in seconds.
///
/// Returns the exit code of the program.
int cw_image_decoder_main(int argc, char **argv);

#endif
