// The drop-in module for `import SystemConfiguration`, for reachability checks in older programs. SystemConfiguration+Generated.swift lists
// the Core Foundation names that the module also exports.
