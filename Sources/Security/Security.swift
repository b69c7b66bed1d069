// The drop-in for sources that say `import Security`: certificates, keys, trust, and the options of TLS. The names are Causeway's;
// Security+Generated.swift lists those that the module shows, so that no other name of Causeway's meets a name of the program's.
