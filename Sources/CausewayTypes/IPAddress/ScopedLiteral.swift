/// Text split at its last `%` into an address and an interface scope (RFC 4007 §11).
struct ScopedLiteral {
    /// The text before the `%`; the whole text if there is no `%`.
    let address: Substring
    /// The interface with the name after the `%`, if this host has one.
    let interface: NWInterface?
    /// The text after the `%` if no interface has that name: an index or an invalid scope.
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
