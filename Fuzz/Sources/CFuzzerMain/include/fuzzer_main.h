#ifndef CAUSEWAY_FUZZER_MAIN_H
#define CAUSEWAY_FUZZER_MAIN_H

#include <stddef.h>
#include <stdint.h>

// Examines one input. Returns 0 to keep it in the corpus when it reaches new code.
typedef int (*fuzzer_callback)(const uint8_t *data, size_t count);

// Runs libFuzzer with the arguments of the command line. Returns the status to exit with.
int fuzzer_main(int argc, char **argv, fuzzer_callback callback);

#endif
