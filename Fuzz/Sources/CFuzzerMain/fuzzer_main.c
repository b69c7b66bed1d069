#include "fuzzer_main.h"

// The function that starts libFuzzer in a program that has its own main function.
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
