// Opens shared libraries of the system at run time.
#ifndef CAUSEWAY_LIBRARY_H
#define CAUSEWAY_LIBRARY_H

/// Opens a library of the system by its name, such as "libcrypto.so.3", and binds all symbols. Returns NULL if it is missing; `dlerror`
/// then has a text.
///
/// A library of that name beside the program, or elsewhere in the program's own search path (DT_RUNPATH, DT_RPATH), is not opened: programs
/// may be in directories that other users can write to, such as downloads. `LD_LIBRARY_PATH` is searched, as far as the C library allows
/// it.
void *cw_open_library(const char *name);

#endif
