#ifndef CAUSEWAY_FUZZER_MAIN_H
#define CAUSEWAY_FUZZER_MAIN_H

#include <stddef.h>
#include <stdint.h>

// Tests one input. Returns 0; libFuzzer then keeps an input that reaches new code in the corpus.
typedef int (*fuzzer_callback)(const uint8_t *data, size_t count);

// Runs libFuzzer with the command line's arguments. Returns the exit status.
int fuzzer_main(int argc, char **argv, fuzzer_callback callback);

#endif
