// The drop-in module for `import Security`: certificates, keys, trust, and TLS options. The names are Causeway's. Security+Generated.swift
// lists the exported names, so that no other name of Causeway conflicts with a name of the program.
