import Causeway

/// Other programs' services with a peer service type. No peer can connect to them, so users may wonder why their names appear.
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

    /// Returns the check's result; `nil` if no such service was found.
    func step() -> PeersDoctor.Step? {
        Self.step(
            names: browser.browseResults.compactMap { result in
                guard case .service(let name, _, _, _) = result.endpoint, case .bonjour(let record) = result.metadata
                else { return nil }
                return Self.isForeign(record.dictionary) ? name : nil
            })
    }

    /// Whether a record lacks the peer protocol's version.
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
