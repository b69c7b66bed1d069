// The drop-in for old sources that ask whether a host can be reached. What it shows beside its own names lists
// SystemConfiguration+Generated.swift: those of Core Foundation that its functions take.
