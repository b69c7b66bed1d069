// The drop-in module for `import Security`: certificates, keys, trust, and TLS options. It exports declarations of Causeway.
// Security+Generated.swift lists them, so that other names of Causeway do not conflict with names of the program.
