// Shared libraries of the system, found at run time.
#ifndef CAUSEWAY_LIBRARY_H
#define CAUSEWAY_LIBRARY_H

/// Opens a library of the system by its name, such as "libcrypto.so.3", with everything bound: NULL and a text from `dlerror` if it is missing.
///
/// A library of that name beside the program, or anywhere else that the program's own search path (DT_RUNPATH, DT_RPATH) leads to, is not
/// opened: programs lie in folders that others may write to, downloads for example. `LD_LIBRARY_PATH` counts, as far as the C library lets it.
void *cw_open_library(const char *name);

#endif
