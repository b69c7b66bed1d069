// The drop-in module for `import Security`: certificates, keys, trust, and TLS options. It exports only the
// declarations of Causeway that Security+Generated.swift lists, so that other names of Causeway do not conflict with
// names of the program.
