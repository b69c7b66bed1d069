// Looks up distributed functions of the running program.
#ifndef CAUSEWAY_ACTORS_H
#define CAUSEWAY_ACTORS_H

#include <stddef.h>

/// Returns a readable description of a distributed function in the program. `name` is the function's mangled name. A
/// description looks like "distributed thunk Game.Board.move(to: Swift.Int) async throws -> ()". The caller frees the
/// text.
///
/// The name may come from a peer. So the function parses it only if it equals a name that the compiler recorded. For
/// any other name, it returns NULL. It also returns NULL if the Swift runtime has no function that finds recorded
/// names.
char *cw_distributed_function(const char *name, size_t length);

#endif
