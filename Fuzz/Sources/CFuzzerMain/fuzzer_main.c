#include "fuzzer_main.h"

// The entry that libFuzzer offers to programs with a main function of their own.
extern int LLVMFuzzerRunDriver(int *argc, char ***argv, fuzzer_callback callback);

static fuzzer_callback current;

// libFuzzer refers to this symbol whether or not its own main function runs.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count) {
    return current == NULL ? 0 : current(data, count);
}

int fuzzer_main(int argc, char **argv, fuzzer_callback callback) {
    current = callback;
    return LLVMFuzzerRunDriver(&argc, &argv, callback);
}
