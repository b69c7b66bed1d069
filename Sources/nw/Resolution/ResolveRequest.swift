import ArgumentParser
import CausewayRuntime
import CausewayWire

/// The parsed arguments of `nw resolve`: its own options, or words in the style of dig.
struct ResolveRequest {
    var name: String
    /// The type of the records to look up. `nil` stands for the address lookup that a connection performs.
    var type: String?
    var server: String?

    /// - Parameters:
    ///   - words: `[@SERVER] NAME [TYPE]`, in any order.
    ///   - reverse: An address for a reverse lookup (PTR), instead of a name.
    /// - Throws: `ValidationError`.
    init(_ words: [String], reverse: String?, type: String?, server: String?) throws {
        let servers = words.filter { $0.hasPrefix("@") }.map { String($0.dropFirst()) } + [server].compactMap(\.self)
        var rest = words.filter { !$0.hasPrefix("@") }
        guard servers.count <= 1 else { throw ValidationError("Specify at most one server.") }
        self.server = servers.first
        if let server = self.server, !NameQuery.isServer(server) {
            throw ValidationError(
                "'\(server)' is not a server address: expected a form such as 192.0.2.53 or [2001:db8::1]:53.")
        }
        if let reverse {
            guard NameQuery.reverseName(of: reverse) != nil else {
                throw ValidationError("-x requires an address: '\(reverse)' is not an address.")
            }
            guard rest.isEmpty else { throw ValidationError("-x cannot be combined with a name.") }
            (name, self.type) = (reverse, nil)
            return
        }
        // Skip the class IN among the words: it is the only supported class.
        if rest.count == 3, let index = rest.firstIndex(where: { $0.uppercased() == "IN" }) { rest.remove(at: index) }
        guard let first = rest.first, rest.count <= 2 else {
            throw ValidationError(
                rest.isEmpty ? "Specify a name or an address." : "Specify one name and at most one record type.")
        }
        (name, self.type) = (first, type)
        if let second = rest.dropFirst().first {
            guard type == nil else { throw ValidationError("Specify the record type only once.") }
            if DNSRecordType(second) != nil {
                self.type = second
            } else if DNSRecordType(first) != nil {
                (name, self.type) = (second, first)
            } else {
                throw ValidationError(
                    "'\(second)' is not a record type: expected a type such as MX, TXT, HTTPS or TYPE65.")
            }
        }
        if let type = self.type, DNSRecordType(type) == nil {
            throw ValidationError("'\(type)' is not a record type: expected a type such as MX, TXT, HTTPS or TYPE65.")
        }
    }
}
