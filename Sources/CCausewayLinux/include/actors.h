// Looks up distributed functions of the running program.
#ifndef CAUSEWAY_ACTORS_H
#define CAUSEWAY_ACTORS_H

#include <stddef.h>

/// Describes the distributed function of the program that has this mangled name, such as "distributed thunk
/// Game.Board.move(to: Swift.Int) async throws -> ()". The caller frees the text.
///
/// The name may come from a peer: it is parsed only if it equals a name that the compiler recorded. Returns NULL for
/// any other name. Also returns NULL if the Swift runtime has no function that finds recorded names.
char *cw_distributed_function(const char *name, size_t length);

#endif
