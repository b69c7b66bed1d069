#include "text.h"

#include <errno.h>
#include <iconv.h>

void *causeway_text_open(const char *name) {
    iconv_t conversion = iconv_open("UTF-8", name);
    return conversion == (iconv_t)-1 ? NULL : (void *)conversion;
}

void causeway_text_close(void *conversion) { iconv_close((iconv_t)conversion); }

int causeway_text_convert(
    void *conversion, const uint8_t *input, size_t input_count, size_t *read, uint8_t *output, size_t output_count, size_t *written) {
    char *source = (char *)input;
    char *target = (char *)output;
    size_t input_left = input_count;
    size_t output_left = output_count;
    size_t result = iconv((iconv_t)conversion, &source, &input_left, &target, &output_left);
    int code = result == (size_t)-1 ? errno : 0;
    *read += input_count - input_left;
    *written += output_count - output_left;
    switch (code) {
    case 0:
        return CAUSEWAY_TEXT_DONE;
    case E2BIG:
        return CAUSEWAY_TEXT_FULL;
    case EINVAL:
        return CAUSEWAY_TEXT_INCOMPLETE;
    default:
        return CAUSEWAY_TEXT_MALFORMED;
    }
}
