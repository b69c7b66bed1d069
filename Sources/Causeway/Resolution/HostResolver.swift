internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
public import CausewayTypes
public import FoundationEssentials

/// Looks up the addresses of a name, the names of an address, and DNS records, without blocking a thread.
///
/// A program that connects does not need a resolver: `NWConnection` looks up names itself and tries each address as soon as it is known.
/// The resolver is for programs that display, compare or store the results. It uses the same sources as a connection: the hosts file, the
/// cache, the host's DNS servers, and multicast DNS for names in `.local`.
///
/// ```swift
/// let resolver = HostResolver()
/// for address in try await resolver.addresses(of: "example.com") { print(address.host) }
/// print(try await resolver.names(of: "192.0.2.1"))
/// for record in try await resolver.records(of: "example.com", type: "MX") { print(record.content) }
/// ```
///
/// A resolver may be used from any thread. Apple's framework has no counterpart.
///
/// Cancellation: every lookup ends with `.posix(.ECANCELED)` when its task is cancelled. The lookup can be repeated.
public struct HostResolver: Sendable {
    /// An address found for a name.
    public struct Address: Hashable, Sendable {
        /// The address: `.ipv4` or `.ipv6`.
        public let host: NWEndpoint.Host
        /// The remaining time to live; `nil` if unknown, for example for a hosts file entry.
        public let timeToLive: Duration?
    }

    /// A DNS record (RFC 1035 §3.2.1).
    public struct Record: Hashable, Sendable {
        /// The name to which the record belongs. It differs from the queried name if aliases were followed.
        public let name: String
        /// The type, for example `A` or `MX`; `TYPE65280` for a type without a name (RFC 3597 §5).
        public let type: String
        /// The record's remaining time to live.
        public let timeToLive: Duration
        /// The content in the format of zone files (RFC 1035 §5.1), for example `10 mail.example.com.`
        public let content: String
        /// The content in wire format, without name compression.
        public let data: Data
    }

    /// An IP version: `.ipv4` or `.ipv6`.
    public enum Family: Hashable, Sendable { case ipv4, ipv6 }

    /// The DNS server to query; `nil` for the host's servers.
    public let server: NWEndpoint?

    /// Creates a resolver.
    ///
    /// - Parameter server: The DNS server to query instead of the host's servers: `.hostPort` with an IP address and usually port 53. The
    ///   resolver then uses neither the hosts file nor multicast DNS, and does not cache answers.
    public init(server: NWEndpoint? = nil) { self.server = server }

    /// Looks up the addresses of a name. They are sorted as for a connection (RFC 6724 §6). With a ``server``, IPv6
    /// addresses come first.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`. The call can be repeated.
    ///
    /// - Parameters:
    ///   - name: A name, or a numeric address, which is returned as the result.
    ///   - family: The only IP version to look up; `nil` for both.
    /// - Throws: `.dns` with `kDNSServiceErr_NoSuchRecord` (-65554) if the name has no address, `.dns` with `kDNSServiceErr_Timeout`
    ///   (-65568) if no server replies, `.posix(.EINVAL)` if the server is not an address, `.posix(.ECANCELED)` after cancellation.
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

    /// Queries ``server`` for a name's addresses: for one IP version, or for both.
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

    /// Looks up an address's names: in the hosts file, otherwise in its PTR records (RFC 1035 §3.5).
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`. The call can be repeated.
    ///
    /// - Parameter host: An IP address.
    /// - Returns: The names, without a trailing dot.
    /// - Throws: `.posix(.EINVAL)` if `host` is a name; otherwise the errors of ``addresses(of:family:)``.
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
    /// Cancellation: throws `.posix(.ECANCELED)`. The call can be repeated.
    ///
    /// - Parameters:
    ///   - name: A name. Internationalized names are encoded (RFC 5891 §4).
    ///   - type: `A`, `AAAA`, `CNAME`, `HTTPS`, `MX`, `NS`, `PTR`, `SOA`, `SRV`, `SVCB`, `TXT` or another type name, or
    ///     `TYPE` followed by a number.
    /// - Returns: The CNAME records leading to the result, if any, and the records of this type.
    /// - Throws: `.posix(.EINVAL)` for an invalid name, type or server; otherwise the errors of
    ///   ``addresses(of:family:)``.
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

    /// Returns the server's address and port as text for `NameQuery`; `nil` if the program specified no server.
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
