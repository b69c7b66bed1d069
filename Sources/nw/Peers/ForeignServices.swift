import Causeway

/// Finds services that have the checked service type but use another protocol, for example Apple's Multipeer
/// Connectivity.
///
/// Peers cannot connect to these services, so users may wonder why their names appear.
final class ForeignServices: Sendable {
    /// Maximum number of printed names.
    private static let limit = 5
    private let browser: NWBrowser

    init(service: String) {
        browser = NWBrowser(
            for: .bonjourWithTXTRecord(type: "_\(service.lowercased())._tcp", domain: nil), using: NWParameters())
        browser.start(queue: .global())
    }

    deinit { browser.cancel() }

    /// Returns a note for `nw peers doctor` with the names of these services; `nil` if there are none.
    func step() -> PeersDoctor.Step? {
        Self.step(
            names: browser.browseResults.compactMap { result in
                guard case .service(let name, _, _, _) = result.endpoint, case .bonjour(let record) = result.metadata
                else { return nil }
                return Self.isForeign(record.dictionary) ? name : nil
            })
    }

    /// Whether a TXT record lacks the version entry of the peer protocol, so that the service belongs to another
    /// program.
    static func isForeign(_ record: [String: String]) -> Bool { record["_cw"] == nil }

    static func step(names: [String]) -> PeersDoctor.Step? {
        guard !names.isEmpty else { return nil }
        let shown = Set(names).sorted().prefix(limit).joined(separator: ", ")
        return PeersDoctor.Step(
            check: "other programs", outcome: .note,
            what: "services of this type that are no peers, for example of Apple's Multipeer Connectivity: \(shown)",
            remedy: "use Causeway on both hosts: the protocol of Apple's Multipeer Connectivity is not public")
    }
}
