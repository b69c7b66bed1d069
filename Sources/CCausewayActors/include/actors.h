// Looks up distributed functions of the running program.
#ifndef CAUSEWAY_ACTORS_H
#define CAUSEWAY_ACTORS_H

#include <stddef.h>

/// Describes the distributed function of the program that has this mangled name, such as
/// "distributed thunk Game.Board.move(to: Swift.Int) async throws -> ()". The caller frees the text.
///
/// The name is compared with the names that the compiler recorded, and only a recorded one is parsed, so it may come from a peer. NULL for
/// any other name, and if the Swift runtime has no such lookup.
char *cw_distributed_function(const char *name, size_t length);

#endif
