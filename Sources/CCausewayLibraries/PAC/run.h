#ifndef CAUSEWAY_RUN_H
#define CAUSEWAY_RUN_H

#include "causeway_pac.h"

/// The input of a process that runs a script.
typedef struct cw_script_job {
    cw_script_text prelude;
    const cw_script_text *arguments;
    int count;
    /// Memory for the engine.
    void *heap;
    int channel;
} cw_script_job;

/// The entry point of the process that runs a script; `job` is a `cw_script_job`. Does not return.
int cw_script_run(void *job);

#endif
