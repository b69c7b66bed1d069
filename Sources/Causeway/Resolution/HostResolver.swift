internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
public import CausewayTypes
public import FoundationEssentials

/// Looks up the addresses of names, the names of addresses, and DNS records, without blocking a thread.
///
/// A program that connects does not need it: `NWConnection` looks names up itself, and uses each address as soon as it is known. The
/// resolver is for programs that show, compare or store what names stand for. It asks what a connection asks: the hosts file, a cache, the
/// host's DNS servers, and for names in `.local` the link (multicast DNS).
///
/// ```swift
/// let resolver = HostResolver()
/// for address in try await resolver.addresses(of: "example.com") { print(address.host) }
/// print(try await resolver.names(of: "192.0.2.1"))
/// for record in try await resolver.records(of: "example.com", type: "MX") { print(record.content) }
/// ```
///
/// It may be used from any thread. An addition of Causeway.
///
/// Cancellation: a cancelled task gives the look-up up, and gets `.posix(.ECANCELED)`. Nothing is lost.
public struct HostResolver: Sendable {
    /// An address of a name.
    public struct Address: Hashable, Sendable {
        /// The address: `.ipv4` or `.ipv6`.
        public let host: NWEndpoint.Host
        /// How long it is valid; `nil` where none is known, as in the hosts file.
        public let timeToLive: Duration?
    }

    /// A DNS record (RFC 1035 §3.2.1).
    public struct Record: Hashable, Sendable {
        /// The name that it belongs to: where aliases were followed, not the one that was asked for.
        public let name: String
        /// `A`, `MX`, `TYPE65280`.
        public let type: String
        /// How long it is valid.
        public let timeToLive: Duration
        /// The content as zone files have it (RFC 1035 §5.1): `10 mail.example.com.`
        public let content: String
        /// The content on the wire, with names in full.
        public let data: Data
    }

    /// A version of IP.
    public enum Family: Hashable, Sendable { case ipv4, ipv6 }

    /// The server that is asked instead of the host's own; `nil` for those.
    public let server: NWEndpoint?

    /// Makes a resolver.
    ///
    /// - Parameter server: A DNS server to ask instead of the host's own: `.hostPort` with an address and mostly port 53. Neither the hosts
    ///   file nor the link is asked then, and answers are not remembered.
    public init(server: NWEndpoint? = nil) { self.server = server }

    /// Looks up the addresses of a name, in the order in which a connection would try them (RFC 6724).
    ///
    /// - Parameters:
    ///   - name: A name, or an address as text, which stands for itself.
    ///   - family: The only version of IP to ask for; `nil` for both.
    /// - Throws: `.dns` with `kDNSServiceErr_NoSuchRecord` (-65554) if there is none, `.dns` with `kDNSServiceErr_Timeout` (-65568) if no
    ///   server answers, `.posix(.EINVAL)` for a server that is not an address, `.posix(.ECANCELED)`.
    public func addresses(of name: String, family: Family? = nil) async throws(NWError) -> [Address] {
        guard server == nil || NameQuery.reverseName(of: name) != nil else {
            return try await addressRecords(of: name, family)
        }
        let inquiry = await NameQuery.addresses(of: name, family: family.map { $0 == .ipv6 ? .ipv6 : .ipv4 })
        guard !Task.isCancelled else { throw .posix(.ECANCELED) }
        guard !inquiry.addresses.isEmpty else { throw Self.error(inquiry) }
        return inquiry.addresses.map { found in
            Address(host: NWEndpoint.Host(found.text), timeToLive: found.timeToLive.map { .seconds($0) })
        }
    }

    /// Asks the server of the program's own for both types of records.
    private func addressRecords(of name: String, _ family: Family?) async throws(NWError) -> [Address] {
        var found: [Address] = []
        var failure: NWError?
        for (type, kind) in [("AAAA", Family.ipv6), ("A", .ipv4)] where family == nil || family == kind {
            do throws(NWError) {
                found += try await records(of: name, type: type).filter { $0.type == type }.map { record in
                    Address(host: NWEndpoint.Host(record.content), timeToLive: record.timeToLive)
                }
            } catch .dns(let code) {
                failure = failure ?? .dns(code)
            }
        }
        guard !found.isEmpty else { throw failure ?? .dns(Self.noSuchRecord) }
        return found
    }

    /// Looks up the names of an address: the hosts file's, or those of its PTR records (RFC 1035 §3.5). They have no dot at the end.
    ///
    /// - Parameter host: An address.
    /// - Throws: `.posix(.EINVAL)` for a name; otherwise as ``addresses(of:family:)``.
    public func names(of host: NWEndpoint.Host) async throws(NWError) -> [String] {
        let text = host.debugDescription
        guard let reverse = NameQuery.reverseName(of: text) else { throw .posix(.EINVAL) }
        if server == nil, let known = NameQuery.knownName(of: text) { return [known] }
        return try await records(of: reverse, type: "PTR").filter { $0.type == "PTR" }.map { record in
            record.content.hasSuffix(".") ? String(record.content.dropLast()) : record.content
        }
    }

    /// Looks up the records of one type.
    ///
    /// - Parameters:
    ///   - name: A name. International names are encoded (RFC 5891).
    ///   - type: `A`, `AAAA`, `CNAME`, `HTTPS`, `MX`, `NS`, `PTR`, `SOA`, `SRV`, `SVCB`, `TXT` and others, or `TYPE` with a number.
    /// - Returns: The records, behind the aliases that lead to them.
    /// - Throws: `.posix(.EINVAL)` where the name, the type or the server cannot be asked; otherwise as ``addresses(of:family:)``.
    public func records(of name: String, type: String) async throws(NWError) -> [Record] {
        let address = try serverText()
        let inquiry: NameQuery
        do {
            inquiry = try await NameQuery.records(of: name, type: type, server: address)
        } catch {
            throw error is CancellationError ? .posix(.ECANCELED) : .posix(.EINVAL)
        }
        guard !Task.isCancelled else { throw .posix(.ECANCELED) }
        guard !inquiry.records.isEmpty, inquiry.failure == nil else { throw Self.error(inquiry) }
        return inquiry.records.map { record in
            Record(
                name: record.name, type: record.type, timeToLive: .seconds(record.timeToLive), content: record.content,
                data: Data(record.data))
        }
    }

    /// The server as `NameQuery` takes it.
    private func serverText() throws(NWError) -> String? {
        switch server {
        case nil: return nil
        case .hostPort(.ipv4(let address), let port)?: return "\(address.debugDescription):\(port.rawValue)"
        case .hostPort(.ipv6(let address), let port)?: return "[\(address.debugDescription)]:\(port.rawValue)"
        default: throw .posix(.EINVAL)
        }
    }

    /// `kDNSServiceErr_NoSuchRecord`.
    private static let noSuchRecord: Int32 = -65_554

    private static func error(_ inquiry: NameQuery) -> NWError {
        inquiry.failure?.networkError ?? .dns(noSuchRecord)
    }
}
