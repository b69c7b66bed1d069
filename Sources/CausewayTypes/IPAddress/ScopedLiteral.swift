/// Text divided at its last `%` into what is before and the interface that is named after it (RFC 4007 §11).
struct ScopedLiteral {
    /// The text before the `%`, or all of it.
    let address: Substring
    /// The interface named after the `%`, if this host has it.
    let interface: NWInterface?
    /// The text after the `%` when no interface has that name: an index, or nonsense.
    let unresolvedScope: Substring?

    init(_ string: String) {
        guard let separator = string.utf8.lastIndex(of: UInt8(ascii: "%")) else {
            address = string[...]
            interface = nil
            unresolvedScope = nil
            return
        }
        let scope = string[string.utf8.index(after: separator)...]
        address = string[..<separator]
        interface = NWInterface(name: String(scope))
        unresolvedScope = interface == nil ? scope : nil
    }
}
