// The module for `import Security`, which replaces Apple's module of the same name: certificates, keys, trust, and TLS
// options.
//
// The module exports only a part of Causeway: the declarations that Security+Generated.swift lists. So Causeway's other
// names do not conflict with the names in a program.
