// Opens shared libraries of the system at run time.
#ifndef CAUSEWAY_LIBRARY_H
#define CAUSEWAY_LIBRARY_H

/// Opens a library of the system by its name, such as "libcrypto.so.3", and binds all symbols. If the library is missing, returns NULL;
/// `dlerror` then returns a message.
///
/// A library of that name in the program's directory, or elsewhere in the program's own search path (DT_RUNPATH, DT_RPATH), is not opened:
/// programs may be in directories that other users can write to, such as downloads. `LD_LIBRARY_PATH` is searched if the C library permits
/// this.
void *cw_open_library(const char *name);

#endif
