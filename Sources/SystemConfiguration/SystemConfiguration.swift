// The drop-in module for `import SystemConfiguration`, for reachability checks of old programs. SystemConfiguration+Generated.swift lists
// the names of Core Foundation that it also exports.
