#include "fuzzer_main.h"

// libFuzzer's entry point for programs with their own main function.
extern int LLVMFuzzerRunDriver(int *argc, char ***argv, fuzzer_callback callback);

static fuzzer_callback current;

// libFuzzer needs this symbol even if its own main function does not run.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count) {
    return current == NULL ? 0 : current(data, count);
}

int fuzzer_main(int argc, char **argv, fuzzer_callback callback) {
    current = callback;
    return LLVMFuzzerRunDriver(&argc, &argv, callback);
}
