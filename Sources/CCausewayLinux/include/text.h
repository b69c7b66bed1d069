// Converts texts to UTF-8 by the C library.
#ifndef CAUSEWAY_TEXT_H
#define CAUSEWAY_TEXT_H

#include <stddef.h>
#include <stdint.h>

/// The result of one conversion step.
enum causeway_text_result {
    CAUSEWAY_TEXT_DONE = 0,
    /// The output buffer is full.
    CAUSEWAY_TEXT_FULL = 1,
    /// The input ends inside of a character.
    CAUSEWAY_TEXT_INCOMPLETE = 2,
    /// The input is malformed. The malformed part begins at the first byte that was not read.
    CAUSEWAY_TEXT_MALFORMED = 3,
};

/// Opens a conversion from the encoding `name` to UTF-8. Returns a null pointer if the C library does not know the
/// encoding.
void *causeway_text_open(const char *name);
/// Closes a conversion.
void causeway_text_close(void *conversion);
/// Converts input. Adds the numbers of bytes read and written to `*read` and `*written`.
int causeway_text_convert(
    void *conversion, const uint8_t *input, size_t input_count, size_t *read, uint8_t *output, size_t output_count, size_t *written);

#endif
